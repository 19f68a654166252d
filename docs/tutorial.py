# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # From one product to a trained network
#
# This notebook is stored as a script. Open it with VS Code or with Jupyter, which opens `.py` files as notebooks after
# `pip install jupytext`. The tests run every cell.
#
# A *gradient* answers one question: if I nudge this number a little, how much does the result change? We begin with an
# expression that is small enough to answer this question by hand.

# %%
import sys

if sys.platform == "emscripten":  # in JupyterLite, in a browser
    # %pip install -q gradwalk
    pass

# %%
from gradwalk import Value, check, draw, gradcheck, nn, refresh, source_lines, walk, zero_grad

a = Value(2.0, label="a")
b = Value(-3.0, label="b")
c = Value(10.0, label="c")
f = Value(-2.0, label="f")

e = a * b
e.label = "e"
d = e + c
d.label = "d"
L = d * f
L.label = "L"
print(L)

# %% [markdown]
# A `Value` is a number that records how it was computed. Therefore we can draw the whole computation:

# %%
draw(L)

# %% [markdown]
# ## By hand
#
# Add a small number `h` to `a`, compute everything again, and divide the change of `L` by `h`. `refresh(L)` recomputes
# the graph of `L` after we have changed the value of a leaf.

# %%
h = 0.0001
before = L.data
a.data += h
refresh(L)
slope = (L.data - before) / h
a.data -= h
refresh(L)
print(f"dL/da is about {slope:.6f}")

# %% [markdown]
# This works for any number in any program, but the program has to run again for each number. With the *chain rule*, we
# get the gradients of all numbers in one pass, from the result back to the leaves. Look at one operation at a time:
#
# - `L = d * f`: if `d` grows by 1, `L` grows by `f`. A product *swaps and scales*.
# - `d = e + c`: if `e` grows by 1, so does `d`. A sum *copies*.
# - `e = a * b`: if `a` grows by 1, `e` grows by `b`.
#
# `dL/da` is the product of these derivatives along the path from `L` to `a`:

# %%
by_hand = f.data * 1.0 * b.data
print(by_hand)
assert abs(by_hand - slope) < 1e-6

# %% [markdown]
# ## Watch the backward pass
#
# `walk` applies the chain rule to every node, as we just did for `a`, and describes each step:

# %%
walk(L)

# %% [markdown]
# The steps are plain data. Each step of the backward pass visits a node, and adds a contribution to the gradient of
# each operand:

# %%
first = walk(L).backward[0]
for given in first.contributions:
    print(
        f"{given.name}: upstream {given.upstream} * local derivative {given.local} ({given.formula}) = {given.amount}"
    )

# %% [markdown]
# A cursor takes one step at a time, forward or back:

# %%
cursor = walk(L).start()
print(cursor.next().sentence)
print(cursor.next().sentence)
print("back:", cursor.back().sentence)

# %% [markdown]
# `backward` stores the gradients in the Values. A drawing then shows the gradients: positive gradients are blue, and
# negative gradients are orange. The larger a gradient, the thicker its line.

# %%
L.backward()
draw(L)

# %% [markdown]
# For slides, you can show all steps as an animation:

# %%
walk(L).film(seconds=1.5)

# %% [markdown]
# ## Check the gradients
#
# `check` nudges every node, including the intermediate nodes, and compares the change of `L` with the gradient.

# %%
print(check(L))

# %% [markdown]
# `check` can also use the step `h` and the one-sided formula that we used by hand:

# %%
found = check(L, method="forward", h=0.0001)
print({row.name: round(row.quotient, 9) for row in found.rows})

# %% [markdown]
# ## What can go wrong: overwriting instead of adding
#
# Here `a` is used twice. Each use contributes to the gradient of `a`, and the contributions must be *added*.

# %%
a = Value(3.0, label="a")
b = a + a
b.label = "b"
print("with +=", walk(b).gradients["a"], " with =", walk(b, overwrite=True).gradients["a"])
walk(b, overwrite=True)

# %% [markdown]
# ## What can go wrong: the order
#
# A node may propagate its gradient only after all contributions to it have arrived. In this graph, `a` is used by `b`
# and by `c`:

# %%
a = Value(2.0, label="a")
b = a + 1
b.label = "b"
c = a * 3
c.label = "c"
d = b * c
d.label = "d"

right = walk(d)
print("legal orders:", right.legal_orders, " gradient of a:", right.gradients["a"])

# %% [markdown]
# If we visit `b` before `d`, the contribution of `d` to `b` arrives too late. The walk lists each lost contribution
# with the reason. For every gradient, the losses add up to the difference from the correct gradient:

# %%
wrong = walk(d, ["b", "d", "c", "a"])
for gradient in wrong.wrong:
    print(gradient.sentence)
    assert gradient.right - gradient.got == sum(loss.missing for loss in gradient.losses)
wrong.draw()

# %% [markdown]
# ## Your own operations
#
# You can create a node by hand, from its value and a rule for its backward pass. To check whether the rule is correct,
# `gradcheck` runs a function with nudged arguments.


# %%
def cube(x):
    out = Value(x.data**3, (x,), "cube")

    def push():
        x.grad += 3 * x.data**2 * out.grad

    out._backward = push
    return out


print(gradcheck(cube, 2.0))
assert gradcheck(cube, 2.0)

# %% [markdown]
# If a rule is wrong, `check` finds the mistake. Inside `source_lines()`, each node stores its source line, which
# `check` then shows:

# %%
with source_lines():
    x = Value(0.5, label="x")
    y = x.tanh()
    y.label = "y"


def wrong_rule():
    x.grad += (1 - y.data) * y.grad  # the square was forgotten


y._backward = wrong_rule
print(check(y))

# %% [markdown]
# ## A neuron, and then a network
#
# A neuron multiplies its inputs by weights, adds the products and a bias, and applies a nonlinear function to the sum:

# %%
x1, x2 = Value(2.0, label="x1"), Value(0.0, label="x2")
w1, w2 = Value(-3.0, label="w1"), Value(1.0, label="w2")
bias = Value(6.8813735870195432, label="b")
o = (x1 * w1 + x2 * w2 + bias).tanh()
o.label = "o"
o.backward()
draw(o)

# %% [markdown]
# A network consists of many neurons. It is the same kind of expression as a neuron, only larger. The parameters of a
# network are labeled automatically.

# %%
import random

random.seed(1337)
points = [([0.0, 0.0], -1.0), ([0.0, 1.0], 1.0), ([1.0, 0.0], 1.0), ([1.0, 1.0], -1.0)]
model = nn.MLP(2, [4, 1], activation=Value.tanh)
draw(model(points[1][0]))

# %% [markdown]
# Training repeats three steps: compute the loss, compute the gradients, and move every parameter a little against its
# gradient.

# %%
losses = []
for _ in range(60):
    loss = sum((model(x) - y) ** 2 for x, y in points)
    model.zero_grad()
    loss.backward()
    for p in model.parameters():
        p.data -= 0.05 * p.grad
    losses.append(loss.data)
print(f"loss: {losses[0]:.4f} at first, {losses[-1]:.4f} at last")
print([round(model(x).data, 2) for x, _ in points])
assert losses[-1] < 0.1

# %% [markdown]
# The graph of the loss has too many nodes to read one by one. It is therefore drawn as a network of layers, for one of
# the samples:

# %%
zero_grad(loss)
loss.backward()
draw(loss)

# %% [markdown]
# We can still check every gradient of this graph:

# %%
found = check(sum((model(x) - y) ** 2 for x, y in points))
print(repr(found), " worst:", found.worst)
assert found
