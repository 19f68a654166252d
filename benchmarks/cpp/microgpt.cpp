// A training step of microgpt on one name, in float32: loss, handwritten gradient, and Adam.

#include "microgpt.h"

// The intermediate results of one position, which the backward pass needs.
struct Place {
    float embedded[WIDTH], x[WIDTH], before[WIDTH], query[WIDTH], key[WIDTH], value[WIDTH];
    float attention[HEADS][PLACES], found[WIDTH], attended[WIDTH], between[WIDTH], hidden[HIDDEN], out[WIDTH];
    float probabilities[LETTERS];
    float root_x, root_before, root_between;
};

template <int ROWS, int COLUMNS>
static void linear(const float (&matrix)[ROWS][COLUMNS], const float *x, float *out) {
    for (int i = 0; i < ROWS; i++) {
        float total = 0;
        for (int j = 0; j < COLUMNS; j++) total += matrix[i][j] * x[j];
        out[i] = total;
    }
}

// Backward pass of a matrix-vector product: adds to the adjoints of the matrix and of the vector.
template <int ROWS, int COLUMNS>
static void linear_back(const float (&matrix)[ROWS][COLUMNS], const float *x, const float *out_bar,
                        float (&matrix_bar)[ROWS][COLUMNS], float *x_bar) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            matrix_bar[i][j] += out_bar[i] * x[j];
            x_bar[j] += out_bar[i] * matrix[i][j];
        }
}

// Scales a vector to a root mean square of 1 and returns the factor.
static float normalize(const float *x, float *out) {
    float total = 0;
    for (int i = 0; i < WIDTH; i++) total += x[i] * x[i];
    float scale = 1 / std::sqrt(total / WIDTH + 1e-5f);
    for (int i = 0; i < WIDTH; i++) out[i] = x[i] * scale;
    return scale;
}

static void normalize_back(const float *out, float scale, const float *out_bar, float *x_bar) {
    float total = 0;
    for (int i = 0; i < WIDTH; i++) total += out[i] * out_bar[i];
    for (int i = 0; i < WIDTH; i++) x_bar[i] += scale * (out_bar[i] - out[i] * total / WIDTH);
}

static void softmax(float *x, int count) {
    float peak = x[0], total = 0;
    for (int i = 1; i < count; i++) peak = std::fmax(peak, x[i]);
    for (int i = 0; i < count; i++) total += x[i] = std::exp(x[i] - peak);
    for (int i = 0; i < count; i++) x[i] /= total;
}

static void forward(const Weights &w, const int *letters, int t, Place *places) {
    Place &p = places[t];
    for (int i = 0; i < WIDTH; i++) p.embedded[i] = w.letters[letters[t]][i] + w.places[t][i];
    p.root_x = normalize(p.embedded, p.x);
    p.root_before = normalize(p.x, p.before);
    linear(w.query, p.before, p.query);
    linear(w.key, p.before, p.key);
    linear(w.value, p.before, p.value);
    std::memset(p.found, 0, sizeof p.found);
    for (int h = 0; h < HEADS; h++) {
        float *attention = p.attention[h];
        for (int s = 0; s <= t; s++) {
            float score = 0;
            for (int i = h * SIZE; i < (h + 1) * SIZE; i++) score += p.query[i] * places[s].key[i];
            attention[s] = score / std::sqrt(float(SIZE));
        }
        softmax(attention, t + 1);
        for (int s = 0; s <= t; s++)
            for (int i = h * SIZE; i < (h + 1) * SIZE; i++) p.found[i] += attention[s] * places[s].value[i];
    }
    linear(w.mix, p.found, p.attended);
    for (int i = 0; i < WIDTH; i++) p.attended[i] += p.x[i];
    p.root_between = normalize(p.attended, p.between);
    linear(w.widen, p.between, p.hidden);
    for (int i = 0; i < HIDDEN; i++) p.hidden[i] = std::fmax(p.hidden[i], 0.0f);
    linear(w.narrow, p.hidden, p.out);
    for (int i = 0; i < WIDTH; i++) p.out[i] += p.attended[i];
    linear(w.unembed, p.out, p.probabilities);
    softmax(p.probabilities, LETTERS);
}

// The backward pass of position t. All later positions must already have added to `key_bar` and `value_bar`.
static void backward(const Weights &w, const int *letters, int t, int count, const Place *places, Weights &bar,
                     float (*key_bar)[WIDTH], float (*value_bar)[WIDTH]) {
    const Place &p = places[t];
    float logits_bar[LETTERS], out_bar[WIDTH] = {}, hidden_bar[HIDDEN] = {}, between_bar[WIDTH] = {};
    for (int i = 0; i < LETTERS; i++) logits_bar[i] = (p.probabilities[i] - (i == letters[t + 1])) / count;
    linear_back(w.unembed, p.out, logits_bar, bar.unembed, out_bar);

    linear_back(w.narrow, p.hidden, out_bar, bar.narrow, hidden_bar);
    for (int i = 0; i < HIDDEN; i++) hidden_bar[i] = p.hidden[i] > 0 ? hidden_bar[i] : 0;
    linear_back(w.widen, p.between, hidden_bar, bar.widen, between_bar);
    normalize_back(p.between, p.root_between, between_bar, out_bar); // now the adjoint of `attended`

    float found_bar[WIDTH] = {}, query_bar[WIDTH] = {}, before_bar[WIDTH] = {}, embedded_bar[WIDTH] = {};
    linear_back(w.mix, p.found, out_bar, bar.mix, found_bar);
    for (int h = 0; h < HEADS; h++) {
        float attention_bar[PLACES], total = 0;
        for (int s = 0; s <= t; s++) {
            attention_bar[s] = 0;
            for (int i = h * SIZE; i < (h + 1) * SIZE; i++) {
                attention_bar[s] += found_bar[i] * places[s].value[i];
                value_bar[s][i] += found_bar[i] * p.attention[h][s];
            }
            total += attention_bar[s] * p.attention[h][s];
        }
        for (int s = 0; s <= t; s++) {
            float score_bar = p.attention[h][s] * (attention_bar[s] - total) / std::sqrt(float(SIZE));
            for (int i = h * SIZE; i < (h + 1) * SIZE; i++) {
                query_bar[i] += score_bar * places[s].key[i];
                key_bar[s][i] += score_bar * p.query[i];
            }
        }
    }
    linear_back(w.query, p.before, query_bar, bar.query, before_bar);
    linear_back(w.key, p.before, key_bar[t], bar.key, before_bar);
    linear_back(w.value, p.before, value_bar[t], bar.value, before_bar);
    normalize_back(p.before, p.root_before, before_bar, out_bar); // now the adjoint of `x`
    normalize_back(p.x, p.root_x, out_bar, embedded_bar);
    for (int i = 0; i < WIDTH; i++) {
        bar.letters[letters[t]][i] += embedded_bar[i];
        bar.places[t][i] += embedded_bar[i];
    }
}

// The loss of a name of count + 1 tokens, the first and last of which are end tokens. Adds to the gradient.
static float loss_and_gradient(const Weights &w, const int *letters, int count, Weights &bar) {
    Place places[PLACES];
    float key_bar[PLACES][WIDTH] = {}, value_bar[PLACES][WIDTH] = {}, loss = 0;
    for (int t = 0; t < count; t++) {
        forward(w, letters, t, places);
        loss -= std::log(places[t].probabilities[letters[t + 1]]) / count;
    }
    for (int t = count - 1; t >= 0; t--) backward(w, letters, t, count, places, bar, key_bar, value_bar);
    return loss;
}

// Makes training step number `step` of `steps`, counted from 0, and returns the loss before it.
extern "C" float train(float *weights, float *mean, float *square, const int *letters, int count, int step, int steps) {
    static Weights bar;
    std::memset(&bar, 0, sizeof bar);
    float loss = loss_and_gradient(*(const Weights *)weights, letters, count, bar);
    adam(weights, mean, square, (const float *)&bar, step, steps);
    return loss;
}
