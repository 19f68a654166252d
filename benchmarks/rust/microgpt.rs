// A training step of microgpt on one name, in float64, on a tape of single numbers, as in the ports of microgpt to Rust.
//
// All nodes are stored in one reused vector in the order of their creation. As in microgpt.py, a sum of products has one
// node per product and per sum.

use std::cell::RefCell;
use std::slice::{from_raw_parts, from_raw_parts_mut};

const WIDTH: usize = 16;
const SIZE: usize = 4; // size of a head
const HIDDEN: usize = 4 * WIDTH;
const PARAMETERS: usize = (27 + 16 + 27 + 4 * WIDTH + 2 * HIDDEN) * WIDTH;

struct Node {
    operands: [u32; 2],
    partials: [f64; 2],
}

#[derive(Clone, Copy)]
struct Value {
    at: u32,
    data: f64,
}

/// The weights come first, without nodes.
#[derive(Default)]
struct Tape {
    nodes: Vec<Node>,
    grads: Vec<f64>,
}

impl Tape {
    fn node(&mut self, data: f64, operands: [u32; 2], partials: [f64; 2]) -> Value {
        self.nodes.push(Node { operands, partials });
        Value { at: (PARAMETERS + self.nodes.len() - 1) as u32, data }
    }

    fn unary(&mut self, data: f64, x: Value, partial: f64) -> Value {
        self.node(data, [x.at, x.at], [partial, 0.0])
    }

    fn add(&mut self, x: Value, y: Value) -> Value {
        self.node(x.data + y.data, [x.at, y.at], [1.0, 1.0])
    }

    fn mul(&mut self, x: Value, y: Value) -> Value {
        self.node(x.data * y.data, [x.at, y.at], [y.data, x.data])
    }

    fn times(&mut self, x: Value, y: f64) -> Value {
        self.unary(x.data * y, x, y)
    }

    fn power(&mut self, x: Value, y: f64) -> Value {
        self.unary(x.data.powf(y), x, y * x.data.powf(y - 1.0))
    }

    fn sum(&mut self, x: &[Value]) -> Value {
        x[1..].iter().fold(x[0], |total, &term| self.add(total, term))
    }

    fn product<'a>(&mut self, x: &[Value], y: impl Iterator<Item = &'a Value>) -> Value {
        let mut total = None;
        for (&xi, &yi) in x.iter().zip(y) {
            let term = self.mul(xi, yi);
            total = Some(total.map_or(term, |before| self.add(before, term)));
        }
        total.expect("at least one product")
    }

    fn linear(&mut self, matrix: &[Value], x: &[Value]) -> Vec<Value> {
        matrix.chunks(x.len()).map(|row| self.product(row, x.iter())).collect()
    }

    fn added(&mut self, x: &[Value], y: &[Value]) -> Vec<Value> {
        x.iter().zip(y).map(|(&xi, &yi)| self.add(xi, yi)).collect()
    }

    fn rms_norm(&mut self, x: &[Value]) -> Vec<Value> {
        let squares = self.product(x, x.iter());
        let mean = self.times(squares, 1.0 / x.len() as f64);
        let above_zero = self.unary(mean.data + 1e-5, mean, 1.0);
        let scale = self.power(above_zero, -0.5);
        x.iter().map(|&component| self.mul(component, scale)).collect()
    }

    fn softmax(&mut self, logits: &[Value]) -> Vec<Value> {
        let peak = logits.iter().map(|logit| logit.data).fold(f64::NEG_INFINITY, f64::max);
        let exponentials: Vec<Value> = logits
            .iter()
            .map(|&logit| {
                let below = self.unary(logit.data - peak, logit, 1.0);
                let found = below.data.exp();
                self.unary(found, below, found)
            })
            .collect();
        let total = self.sum(&exponentials);
        let inverse = self.power(total, -1.0);
        exponentials.iter().map(|&x| self.mul(x, inverse)).collect()
    }

    /// Propagates adjoints from the last node, which is the loss, to the weights.
    fn backward(&mut self) {
        self.grads.clear();
        self.grads.resize(PARAMETERS + self.nodes.len(), 0.0);
        *self.grads.last_mut().expect("a loss") = 1.0;
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let grad = self.grads[PARAMETERS + i];
            for (&operand, &partial) in node.operands.iter().zip(&node.partials) {
                self.grads[operand as usize] += partial * grad;
            }
        }
    }
}

struct Weights<'a> {
    letters: &'a [Value],
    places: &'a [Value],
    unembed: &'a [Value],
    query: &'a [Value],
    key: &'a [Value],
    value: &'a [Value],
    mix: &'a [Value],
    widen: &'a [Value],
    narrow: &'a [Value],
}

impl<'a> Weights<'a> {
    fn new(mut all: &'a [Value]) -> Self {
        let mut next = |rows: usize| {
            let (matrix, rest) = all.split_at(rows * WIDTH);
            all = rest;
            matrix
        };
        Weights {
            letters: next(27),
            places: next(16),
            unembed: next(27),
            query: next(WIDTH),
            key: next(WIDTH),
            value: next(WIDTH),
            mix: next(WIDTH),
            widen: next(HIDDEN),
            narrow: next(HIDDEN),
        }
    }
}

fn row(matrix: &[Value], i: usize) -> &[Value] {
    &matrix[i * WIDTH..(i + 1) * WIDTH]
}

#[derive(Default)]
struct Memory {
    keys: Vec<Vec<Value>>,
    values: Vec<Vec<Value>>,
}

fn attend(tape: &mut Tape, weights: &Weights, x: &[Value], memory: &mut Memory) -> Vec<Value> {
    let query = tape.linear(weights.query, x);
    memory.keys.push(tape.linear(weights.key, x));
    memory.values.push(tape.linear(weights.value, x));
    let mut found = Vec::new();
    for head in (0..WIDTH).step_by(SIZE) {
        let mut scores = Vec::new();
        for key in &memory.keys {
            let score = tape.product(&query[head..head + SIZE], key[head..head + SIZE].iter());
            scores.push(tape.times(score, 0.5));
        }
        let shares = tape.softmax(&scores);
        for i in head..head + SIZE {
            found.push(tape.product(&shares, memory.values.iter().map(|value| &value[i])));
        }
    }
    tape.linear(weights.mix, &found)
}

fn loss(tape: &mut Tape, weights: &Weights, letters: &[i32]) -> Value {
    let mut memory = Memory::default();
    let mut losses = Vec::new();
    for (place, pair) in letters.windows(2).enumerate() {
        let embedded = tape.added(row(weights.letters, pair[0] as usize), row(weights.places, place));
        let x = tape.rms_norm(&embedded);
        let before = tape.rms_norm(&x);
        let attended = attend(tape, weights, &before, &mut memory);
        let x = tape.added(&attended, &x);
        let between = tape.rms_norm(&x);
        let wide = tape.linear(weights.widen, &between);
        let hidden: Vec<Value> =
            wide.iter().map(|&n| tape.unary(n.data.max(0.0), n, if n.data > 0.0 { 1.0 } else { 0.0 })).collect();
        let thought = tape.linear(weights.narrow, &hidden);
        let x = tape.added(&thought, &x);
        let logits = tape.linear(weights.unembed, &x);
        let share = tape.softmax(&logits)[pair[1] as usize];
        let log = tape.unary(share.data.ln(), share, 1.0 / share.data);
        losses.push(tape.times(log, -1.0));
    }
    let total = tape.sum(&losses);
    tape.times(total, 1.0 / losses.len() as f64)
}

/// Makes step number `step` of `steps`, counted from 0.
fn adam(weights: &mut [f64], mean: &mut [f64], square: &mut [f64], gradient: &[f64], step: i32, steps: i32) {
    let rate = 0.01 * (1.0 - f64::from(step) / f64::from(steps));
    let unbiased = 1.0 - 0.85f64.powi(step + 1);
    let unbiased_square = 1.0 - 0.99f64.powi(step + 1);
    for i in 0..weights.len() {
        mean[i] = 0.85 * mean[i] + 0.15 * gradient[i];
        square[i] = 0.99 * square[i] + 0.01 * gradient[i] * gradient[i];
        weights[i] -= rate * (mean[i] / unbiased) / ((square[i] / unbiased_square).sqrt() + 1e-8);
    }
}

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
}

/// Trains on a name of count + 1 tokens, including end tokens, and returns the loss before the step.
///
/// # Safety
///
/// The first three arguments must be arrays of all parameters, and `letters` must have count + 1 numbers.
#[no_mangle]
pub unsafe extern "C" fn train(
    weights: *mut f64,
    mean: *mut f64,
    square: *mut f64,
    letters: *const i32,
    count: i32,
    step: i32,
    steps: i32,
) -> f64 {
    let [weights, mean, square] = [weights, mean, square].map(|x| from_raw_parts_mut(x, PARAMETERS));
    let letters = from_raw_parts(letters, count as usize + 1);
    let leaves: Vec<Value> = (0u32..).zip(weights.iter()).map(|(at, &data)| Value { at, data }).collect();
    TAPE.with_borrow_mut(|tape| {
        tape.nodes.clear();
        let value = loss(tape, &Weights::new(&leaves), letters);
        tape.backward();
        adam(weights, mean, square, &tape.grads[..PARAMETERS], step, steps);
        value.data
    })
}
