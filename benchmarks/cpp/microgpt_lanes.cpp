// A handwritten training step of microgpt on 16 names of equal length, in float32: a vector has one number per name.
//
// As in EEmicroGPT, sums stay in registers for a block of rows at a time, and gradients of matrices are computed from
// transposed vectors, which avoids horizontal sums.

#include <initializer_list>

#include "microgpt.h"

constexpr int LANES = 16;
typedef float Lanes __attribute__((vector_size(4 * LANES)));
typedef int Indices __attribute__((vector_size(4 * LANES)));
static_assert(WIDTH == LANES, "a row of most matrices is a vector");

// Numbers of all names by position and component, and the same numbers with the components side by side.
template <int COUNT>
struct Both {
    Lanes of[COUNT];
    Lanes rows[COUNT / WIDTH][LANES];
};

// The intermediate results of one position of the names, and their adjoints.
struct Place {
    Lanes x[WIDTH], query[WIDTH], key[WIDTH], value[WIDTH], attention[HEADS][PLACES], logits_bar[LETTERS];
    Lanes query_bar[WIDTH], key_bar[WIDTH], value_bar[WIDTH], attended_bar[WIDTH], out_bar[WIDTH], hidden_bar[HIDDEN];
    Both<WIDTH> before, found, between, out;
    Both<HIDDEN> hidden;
    Lanes attended[WIDTH], root_x, root_before, root_between;
};

template <int STEP>
static inline void exchange(Lanes *rows) {
    Indices first, second;
    for (int l = 0; l < LANES; l++) {
        first[l] = l & STEP ? LANES + l - STEP : l;
        second[l] = l & STEP ? LANES + l : l + STEP;
    }
    for (int i = 0; i < LANES; i++)
        if (!(i & STEP)) {
            const Lanes a = rows[i], b = rows[i + STEP];
            rows[i] = __builtin_shuffle(a, b, first);
            rows[i + STEP] = __builtin_shuffle(a, b, second);
        }
}

static void transpose(const Lanes *x, Lanes *out) {
    std::memcpy(out, x, LANES * sizeof(Lanes));
    exchange<8>(out);
    exchange<4>(out);
    exchange<2>(out);
    exchange<1>(out);
}

template <int COUNT>
static void turn(Both<COUNT> &x) {
    for (int part = 0; part < COUNT / WIDTH; part++) transpose(x.of + part * WIDTH, x.rows[part]);
}

constexpr int block_of(int rows) { return rows % 8 ? 9 : 8; }

template <int ROWS, int COLUMNS>
static void linear(const float (&matrix)[ROWS][COLUMNS], const Lanes *x, Lanes *out) {
    constexpr int BLOCK = block_of(ROWS);
    for (int i = 0; i < ROWS; i += BLOCK) {
        Lanes sums[BLOCK] = {};
        for (int j = 0; j < COLUMNS; j++)
            for (int k = 0; k < BLOCK; k++) sums[k] += matrix[i + k][j] * x[j];
        for (int k = 0; k < BLOCK; k++) out[i + k] = sums[k];
    }
}

// Backward pass of a matrix-vector product: adds to the adjoint of the vector.
template <int ROWS, int COLUMNS>
static void linear_back(const float (&matrix)[ROWS][COLUMNS], const Lanes *out_bar, Lanes *x_bar) {
    constexpr int BLOCK = 8;
    for (int j = 0; j < COLUMNS; j += BLOCK) {
        Lanes sums[BLOCK];
        for (int k = 0; k < BLOCK; k++) sums[k] = x_bar[j + k];
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < BLOCK; k++) sums[k] += matrix[i][j + k] * out_bar[i];
        for (int k = 0; k < BLOCK; k++) x_bar[j + k] = sums[k];
    }
}

// The gradient of a matrix, summed over all positions and names. `x` and `out_bar` give the vectors that the matrix
// multiplied and the adjoints of the results.
template <int ROWS, int COLUMNS, typename X, typename Bar>
static void gradient_of(float (&bar)[ROWS][COLUMNS], const Place *places, int count, X x, Bar out_bar) {
    constexpr int BLOCK = block_of(ROWS);
    for (int part = 0; part < COLUMNS / WIDTH; part++)
        for (int i = 0; i < ROWS; i += BLOCK) {
            Lanes sums[BLOCK] = {};
            for (int t = 0; t < count; t++) {
                const Lanes *rows = x(places[t]).rows[part];
                const float *adjoints = (const float *)(out_bar(places[t]) + i);
                for (int l = 0; l < LANES; l++)
                    for (int k = 0; k < BLOCK; k++) sums[k] += adjoints[k * LANES + l] * rows[l];
            }
            for (int k = 0; k < BLOCK; k++) std::memcpy(&bar[i + k][part * WIDTH], &sums[k], sizeof(Lanes));
        }
}

// exp(x) for x <= 0, with an error of 1e-6.
static inline Lanes exponential(Lanes x) {
    Lanes t = x * 1.44269504f;
    t = t < -126.0f ? Lanes{} - 126.0f : t;
    const Indices whole = __builtin_convertvector(t, Indices);
    const Lanes y = (t - __builtin_convertvector(whole, Lanes)) * 0.69314718f;
    Lanes sum = Lanes{} + 1.0f;
    for (int k = 8; k > 0; k--) sum = 1.0f + sum * y * (1.0f / k);
    return sum * (Lanes)((whole + 127) << 23);
}

static inline Lanes inverse_root(Lanes x) {
    float numbers[LANES];
    std::memcpy(numbers, &x, sizeof x);
    for (int l = 0; l < LANES; l++) numbers[l] = 1 / std::sqrt(numbers[l]);
    std::memcpy(&x, numbers, sizeof x);
    return x;
}

static Lanes normalize(const Lanes *x, Lanes *out) {
    Lanes total = {};
    for (int i = 0; i < WIDTH; i++) total += x[i] * x[i];
    const Lanes scale = inverse_root(total * (1.0f / WIDTH) + 1e-5f);
    for (int i = 0; i < WIDTH; i++) out[i] = x[i] * scale;
    return scale;
}

static void normalize_back(const Lanes *out, Lanes scale, const Lanes *out_bar, Lanes *x_bar) {
    Lanes total = {};
    for (int i = 0; i < WIDTH; i++) total += out[i] * out_bar[i];
    total *= 1.0f / WIDTH;
    for (int i = 0; i < WIDTH; i++) x_bar[i] += scale * (out_bar[i] - out[i] * total);
}

static void softmax(Lanes *x, int count) {
    Lanes peak = x[0], total = {};
    for (int i = 1; i < count; i++) peak = x[i] > peak ? x[i] : peak;
    for (int i = 0; i < count; i++) total += x[i] = exponential(x[i] - peak);
    const Lanes share = 1.0f / total;
    for (int i = 0; i < count; i++) x[i] *= share;
}

static void attend(int t, Place *places) {
    Place &p = places[t];
    for (int h = 0; h < HEADS; h++) {
        for (int s = 0; s <= t; s++) {
            Lanes score = {};
            for (int i = h * SIZE; i < (h + 1) * SIZE; i++) score += p.query[i] * places[s].key[i];
            p.attention[h][s] = score * 0.5f;
        }
        softmax(p.attention[h], t + 1);
        for (int i = h * SIZE; i < (h + 1) * SIZE; i++) {
            Lanes found = {};
            for (int s = 0; s <= t; s++) found += p.attention[h][s] * places[s].value[i];
            p.found.of[i] = found;
        }
    }
}

static void attend_back(int t, Place *places, const Lanes *found_bar) {
    Place &p = places[t];
    for (int h = 0; h < HEADS; h++) {
        Lanes attention_bar[PLACES], total = {};
        for (int s = 0; s <= t; s++) {
            attention_bar[s] = Lanes{};
            for (int i = h * SIZE; i < (h + 1) * SIZE; i++) {
                attention_bar[s] += found_bar[i] * places[s].value[i];
                places[s].value_bar[i] += found_bar[i] * p.attention[h][s];
            }
            total += attention_bar[s] * p.attention[h][s];
        }
        for (int s = 0; s <= t; s++) {
            const Lanes score_bar = 0.5f * p.attention[h][s] * (attention_bar[s] - total);
            for (int i = h * SIZE; i < (h + 1) * SIZE; i++) {
                p.query_bar[i] += score_bar * places[s].key[i];
                places[s].key_bar[i] += score_bar * p.query[i];
            }
        }
    }
}

// `letters` has a row of count + 1 tokens for each name. Returns the sum of the losses at this position.
static float forward(const Weights &w, const int *letters, int t, int count, Place *places) {
    Place &p = places[t];
    Lanes embedded[WIDTH];
    Lanes place;
    std::memcpy(&place, w.places[t], sizeof place);
    for (int l = 0; l < LANES; l++) {
        std::memcpy(&embedded[l], w.letters[letters[l * (count + 1) + t]], sizeof(Lanes));
        embedded[l] += place;
    }
    transpose(embedded, embedded);
    p.root_x = normalize(embedded, p.x);
    p.root_before = normalize(p.x, p.before.of);
    linear(w.query, p.before.of, p.query);
    linear(w.key, p.before.of, p.key);
    linear(w.value, p.before.of, p.value);
    attend(t, places);
    linear(w.mix, p.found.of, p.attended);
    for (int i = 0; i < WIDTH; i++) p.attended[i] += p.x[i];
    p.root_between = normalize(p.attended, p.between.of);
    linear(w.widen, p.between.of, p.hidden.of);
    for (int i = 0; i < HIDDEN; i++) p.hidden.of[i] = p.hidden.of[i] > 0.0f ? p.hidden.of[i] : Lanes{};
    linear(w.narrow, p.hidden.of, p.out.of);
    for (int i = 0; i < WIDTH; i++) p.out.of[i] += p.attended[i];
    linear(w.unembed, p.out.of, p.logits_bar);
    softmax(p.logits_bar, LETTERS);

    float loss = 0;
    for (int l = 0; l < LANES; l++) {
        float *probability = (float *)&p.logits_bar[letters[l * (count + 1) + t + 1]] + l;
        loss -= std::log(*probability);
        *probability -= 1;
    }
    for (int i = 0; i < LETTERS; i++) p.logits_bar[i] *= 1.0f / (count * LANES);
    turn(p.before), turn(p.found), turn(p.between), turn(p.hidden), turn(p.out);
    return loss / (count * LANES);
}

// The backward pass of position t. All later positions must already have added to its key_bar and value_bar.
static void backward(const Weights &w, const int *letters, int t, int count, Place *places, Weights &bar) {
    Place &p = places[t];
    linear_back(w.unembed, p.logits_bar, p.out_bar);
    linear_back(w.narrow, p.out_bar, p.hidden_bar);
    for (int i = 0; i < HIDDEN; i++) p.hidden_bar[i] = p.hidden.of[i] > 0.0f ? p.hidden_bar[i] : Lanes{};
    Lanes between_bar[WIDTH] = {}, found_bar[WIDTH] = {}, before_bar[WIDTH] = {}, embedded_bar[WIDTH] = {};
    linear_back(w.widen, p.hidden_bar, between_bar);
    std::memcpy(p.attended_bar, p.out_bar, sizeof p.out_bar);
    normalize_back(p.between.of, p.root_between, between_bar, p.attended_bar);
    linear_back(w.mix, p.attended_bar, found_bar);
    attend_back(t, places, found_bar);
    linear_back(w.query, p.query_bar, before_bar);
    linear_back(w.key, p.key_bar, before_bar);
    linear_back(w.value, p.value_bar, before_bar);
    Lanes x_bar[WIDTH];
    std::memcpy(x_bar, p.attended_bar, sizeof x_bar);
    normalize_back(p.before.of, p.root_before, before_bar, x_bar);
    normalize_back(p.x, p.root_x, x_bar, embedded_bar);
    transpose(embedded_bar, embedded_bar);
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < WIDTH; i++) {
            bar.letters[letters[l * (count + 1) + t]][i] += embedded_bar[l][i];
            bar.places[t][i] += embedded_bar[l][i];
        }
}

static void gradients(const Place *places, int count, Weights &bar) {
    const auto before = [](const Place &p) -> const Both<WIDTH> & { return p.before; };
    gradient_of(bar.query, places, count, before, [](const Place &p) { return p.query_bar; });
    gradient_of(bar.key, places, count, before, [](const Place &p) { return p.key_bar; });
    gradient_of(bar.value, places, count, before, [](const Place &p) { return p.value_bar; });
    gradient_of(bar.mix, places, count, [](const Place &p) -> const Both<WIDTH> & { return p.found; },
                [](const Place &p) { return p.attended_bar; });
    gradient_of(bar.widen, places, count, [](const Place &p) -> const Both<WIDTH> & { return p.between; },
                [](const Place &p) { return p.hidden_bar; });
    gradient_of(bar.narrow, places, count, [](const Place &p) -> const Both<HIDDEN> & { return p.hidden; },
                [](const Place &p) { return p.out_bar; });
    gradient_of(bar.unembed, places, count, [](const Place &p) -> const Both<WIDTH> & { return p.out; },
                [](const Place &p) { return p.logits_bar; });
}

// Makes training step number `step` of `steps`, counted from 0, on 16 names, and returns their mean loss before it.
extern "C" float train(float *weights, float *mean, float *square, const int *letters, int count, int step, int steps) {
    static Weights bar;
    static Place places[PLACES];
    const Weights &w = *(const Weights *)weights;
    float loss = 0;
    std::memset(&bar, 0, sizeof bar);
    for (int t = 0; t < count; t++) {
        Place &p = places[t];
        for (Lanes *adjoints : {p.query_bar, p.key_bar, p.value_bar, p.out_bar})
            std::memset(adjoints, 0, WIDTH * sizeof(Lanes));
        std::memset(p.hidden_bar, 0, sizeof p.hidden_bar);
        loss += forward(w, letters, t, count, places);
    }
    for (int t = count - 1; t >= 0; t--) backward(w, letters, t, count, places, bar);
    gradients(places, count, bar);
    adam(weights, mean, square, (const float *)&bar, step, steps);
    return loss;
}
