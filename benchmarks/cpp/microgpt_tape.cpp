// A training step of microgpt on one name, in float64, on a tape of single numbers, as in microgpt.py.
//
// As in other ports of microgpt to C++ and Rust, all nodes are stored in one reused array in the order of their creation,
// so that the backward pass needs no topological sort.

#include <algorithm>
#include <vector>

#include "microgpt.h"

struct Node {
    double partial[2];
    int operand[2];
};
static std::vector<Node> tape; // excludes the weights, which come first
static std::vector<double> grads;

struct Value {
    int at;
    double data;
};
static std::vector<Value> weight;

static Value node(double data, int a, double da, int b, double db) {
    tape.push_back({{da, db}, {a, b}});
    return {PARAMETERS + int(tape.size()) - 1, data};
}

static Value node(double data, Value x, double dx) { return node(data, x.at, dx, x.at, 0); }
static Value operator+(Value x, Value y) { return node(x.data + y.data, x.at, 1, y.at, 1); }
static Value operator*(Value x, Value y) { return node(x.data * y.data, x.at, y.data, y.at, x.data); }
static Value operator+(Value x, double y) { return node(x.data + y, x, 1); }
static Value operator*(Value x, double y) { return node(x.data * y, x, y); }
static Value power(Value x, double y) { return node(std::pow(x.data, y), x, y * std::pow(x.data, y - 1)); }
static Value inverse(Value x) { return node(1 / x.data, x, -1 / (x.data * x.data)); }
static Value log(Value x) { return node(std::log(x.data), x, 1 / x.data); }
static Value relu(Value x) { return node(std::max(x.data, 0.0), x, x.data > 0); }
static Value exp(Value x) {
    const double found = std::exp(x.data);
    return node(found, x, found);
}

using Vector = std::vector<Value>;

// The index of the first number of a matrix on the tape.
template <typename Member>
static int at(Member member) {
    static const Weights any = {};
    return int((const float *)&(any.*member) - (const float *)&any);
}

static Value product(const Value *x, const Value *y, int count) {
    Value total = x[0] * y[0];
    for (int i = 1; i < count; i++) total = total + x[i] * y[i];
    return total;
}

static Vector linear(int matrix, int rows, const Vector &x) {
    Vector out;
    for (int i = 0; i < rows; i++) {
        const int row = matrix + i * int(x.size());
        Value total = weight[row] * x[0];
        for (int j = 1; j < int(x.size()); j++) total = total + weight[row + j] * x[j];
        out.push_back(total);
    }
    return out;
}

static Vector added(const Vector &x, const Vector &y) {
    Vector out;
    for (int i = 0; i < int(x.size()); i++) out.push_back(x[i] + y[i]);
    return out;
}

static Vector rms_norm(const Vector &x) {
    const Value scale = power(product(x.data(), x.data(), WIDTH) * (1.0 / WIDTH) + 1e-5, -0.5);
    Vector out;
    for (const Value component : x) out.push_back(component * scale);
    return out;
}

static Vector softmax(const Vector &logits) {
    double peak = logits[0].data;
    for (const Value logit : logits) peak = std::max(peak, logit.data);
    Vector out;
    for (const Value logit : logits) out.push_back(exp(logit + -peak));
    Value total = out[0];
    for (int i = 1; i < int(out.size()); i++) total = total + out[i];
    for (Value &share : out) share = share * inverse(total);
    return out;
}

static Vector row(int matrix, int i) {
    Vector out;
    for (int j = 0; j < WIDTH; j++) out.push_back(weight[matrix + i * WIDTH + j]);
    return out;
}

static Vector attend(const Vector &x, std::vector<Vector> &keys, std::vector<Vector> &values) {
    const Vector query = linear(at(&Weights::query), WIDTH, x);
    keys.push_back(linear(at(&Weights::key), WIDTH, x));
    values.push_back(linear(at(&Weights::value), WIDTH, x));
    Vector found;
    for (int h = 0; h < WIDTH; h += SIZE) {
        Vector scores;
        for (const Vector &key : keys) scores.push_back(product(&query[h], &key[h], SIZE) * 0.5);
        const Vector shares = softmax(scores);
        for (int i = h; i < h + SIZE; i++) {
            Value total = shares[0] * values[0][i];
            for (int s = 1; s < int(values.size()); s++) total = total + shares[s] * values[s][i];
            found.push_back(total);
        }
    }
    return linear(at(&Weights::mix), WIDTH, found);
}

static Value loss_of(const int *letters, int count) {
    std::vector<Vector> keys, values;
    Vector losses;
    for (int t = 0; t < count; t++) {
        Vector x = rms_norm(added(row(at(&Weights::letters), letters[t]), row(at(&Weights::places), t)));
        x = added(attend(rms_norm(x), keys, values), x);
        Vector hidden = linear(at(&Weights::widen), HIDDEN, rms_norm(x));
        for (Value &neuron : hidden) neuron = relu(neuron);
        x = added(linear(at(&Weights::narrow), WIDTH, hidden), x);
        losses.push_back(log(softmax(linear(at(&Weights::unembed), LETTERS, x))[letters[t + 1]]) * -1);
    }
    Value total = losses[0];
    for (int t = 1; t < count; t++) total = total + losses[t];
    return total * (1.0 / count);
}

// Makes training step number `step` of `steps`, counted from 0, and returns the loss before it.
extern "C" double train(double *weights, double *mean, double *square, const int *letters, int count, int step, int steps) {
    tape.clear();
    weight.clear();
    for (int i = 0; i < PARAMETERS; i++) weight.push_back({i, weights[i]});
    const double loss = loss_of(letters, count).data;
    grads.assign(PARAMETERS + tape.size(), 0);
    grads.back() = 1;
    for (int i = int(tape.size()) - 1; i >= 0; i--) {
        const double grad = grads[PARAMETERS + i];
        for (int k = 0; k < 2; k++) grads[tape[i].operand[k]] += tape[i].partial[k] * grad;
    }
    adam(weights, mean, square, grads.data(), step, steps);
    return loss;
}
