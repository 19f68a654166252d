// Example programs, by the keys of their titles in the language files.

/** @type {Readonly<Record<"neuron" | "loop" | "twice" | "function", string>>} */
export const EXAMPLES = {
  neuron: `from gradwalk import Value

x1, x2 = Value(2.0, label="x1"), Value(0.0, label="x2")
w1, w2 = Value(-3.0, label="w1"), Value(1.0, label="w2")
b = Value(6.88, label="b")

n = x1 * w1 + x2 * w2 + b
o = n.tanh()
n.label, o.label = "n", "o"
o.backward()

print("o =", o.data)
print("do/dw1 =", w1.grad)
`,
  loop: `from gradwalk import Value

points = [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]
slope, shift = Value(0.0, label="slope"), Value(0.0, label="shift")

for epoch in range(20):
    errors = [(slope * x + shift - y) ** 2 for x, y in points]
    loss = sum(errors, Value(0.0)) / len(points)
    slope.grad = shift.grad = 0.0
    loss.backward()
    slope.data -= 0.2 * slope.grad
    shift.data -= 0.2 * shift.grad
    print(epoch, loss.data)
`,
  twice: `from gradwalk import Value

a = Value(3.0, label="a")

for _ in range(2):
    b = a * a
    b.backward()  # adds to a.grad: what the first pass left there is still in it
    print(a.grad)
`,
  function: `import numpy as np
from gradwalk import Value, math, vmap, value_and_grad


def loss(w, x, y):
    return (math.tanh(w @ x) - y) ** 2


X = np.random.default_rng(0).standard_normal((1000, 2))
y = np.tanh(X @ [0.5, -1.0])
step = vmap(value_and_grad(loss), in_axes=(None, 0, 0), reduce="mean")
w = np.zeros(2)
for _ in range(100):
    value, gradient = step(w, X, y)
    w -= gradient
print("w =", w.round(3))

# One sample of it, as a graph:
w1, w2 = Value(w[0], label="w1"), Value(w[1], label="w2")
loss(np.array([w1, w2]), X[0], y[0]).backward()
`,
};
