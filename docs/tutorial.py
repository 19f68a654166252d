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
# This is a notebook kept as a script. Open it with Jupyter (`pip install jupytext` lets it open `.py` files as
# notebooks) or with VS Code, or run it cell by cell. Every cell is run by the tests.
#
# A *gradient* answers one question: if I nudge this number a little, how much does the result move? We begin with an
# expression small enough to answer that by hand.

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
L

# %% [markdown]
# A `Value` is a number that remembers how it was made. So we can draw the whole computation:

# %%
draw(L)

# %% [markdown]
# ## By hand
#
# Nudge `a` by a little, compute everything again, and see how far `L` moved for each unit of the nudge. `refresh`
# computes a graph again after its leaves were set.

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
# That works for any number in any program, but it costs a run of the program for each of them. The *chain rule* gets
# all of them in one pass, from the result back to the leaves. Look at one operation at a time:
#
# - `L = d * f`: if `d` grows by 1, `L` grows by `f`. A product *swaps and scales*.
# - `d = e + c`: if `e` grows by 1, so does `d`. A sum *copies*.
# - `e = a * b`: if `a` grows by 1, `e` grows by `b`.
#
# So `dL/da` is the product of these along the way from `L` to `a`:

# %%
by_hand = f.data * 1.0 * b.data
print(by_hand)
assert abs(by_hand - slope) < 1e-6

# %% [markdown]
# ## Watch it being done
#
# `walk` does what we just did, for every node, and says so:

# %%
walk(L)

# %% [markdown]
# The steps are plain data. Each step of the backward pass visits a node and gives every operand its contribution:

# %%
first = walk(L).backward[0]
for given in first.contributions:
    print(
        f"{given.name}: upstream {given.upstream} * local derivative {given.local} ({given.formula}) = {given.amount}"
    )

# %% [markdown]
# You can take them one at a time, forward and back, from either end:

# %%
cursor = walk(L).start()
print(cursor.next().sentence)
print(cursor.next().sentence)
print("back:", cursor.back().sentence)

# %% [markdown]
# `backward` puts the gradients into the Values, and a drawing then shows them: blue is positive, orange negative, and
# the heavier a line, the more flows along it.

# %%
L.backward()
draw(L)

# %% [markdown]
# A film, for slides:

# %%
walk(L).film(seconds=1.5)

# %% [markdown]
# ## Can we trust it?
#
# `check` nudges every node, intermediate ones included, and compares.

# %%
print(check(L))

# %% [markdown]
# With the very step that we took by hand:

# %%
found = check(L, method="forward", h=0.0001)
print({row.name: round(row.quotient, 9) for row in found.rows})

# %% [markdown]
# ## What can go wrong: forgetting to add up
#
# Here `a` is used twice. Both ways contribute, and the contributions have to be *added*.

# %%
a = Value(3.0, label="a")
b = a + a
b.label = "b"
print("with +=", walk(b).gradients["a"], " with =", walk(b, overwrite=True).gradients["a"])
walk(b, overwrite=True)

# %% [markdown]
# ## What can go wrong: the order
#
# A node may pass its gradient on only when all of it has arrived. In this diamond, `a` is used by `b` and by `c`:

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
# Visit `b` before `d`, and what `d` had for `b` comes too late. The walk says what was lost, where and why, and the
# losses make up exactly what is missing:

# %%
wrong = walk(d, ["b", "d", "c", "a"])
for gradient in wrong.wrong:
    print(gradient.sentence)
    assert gradient.right - gradient.got == sum(loss.missing for loss in gradient.losses)
wrong.draw()

# %% [markdown]
# ## Operations of your own
#
# A node made by hand gets its value and its rule from you. Is the rule right? `gradcheck` runs a function with nudged
# arguments, and tells.


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
# A mistake is found, and named with its line where the lines were remembered:

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
# A neuron weighs its inputs, adds them up, and bends the sum:

# %%
x1, x2 = Value(2.0, label="x1"), Value(0.0, label="x2")
w1, w2 = Value(-3.0, label="w1"), Value(1.0, label="w2")
bias = Value(6.8813735870195432, label="b")
o = (x1 * w1 + x2 * w2 + bias).tanh()
o.label = "o"
o.backward()
draw(o)

# %% [markdown]
# Many neurons make a network. It is the same kind of expression, only larger; its parameters have labels of their own.

# %%
import random

random.seed(1337)
points = [([0.0, 0.0], -1.0), ([0.0, 1.0], 1.0), ([1.0, 0.0], 1.0), ([1.0, 1.0], -1.0)]
model = nn.MLP(2, [4, 1], activation=Value.tanh)
draw(model(points[1][0]))

# %% [markdown]
# Training is: compute the loss, get the gradients, move every parameter a little against its gradient; again.

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
# The graph of the loss has more nodes than one would like to read one by one, so it is drawn by module:

# %%
zero_grad(loss)
loss.backward()
draw(loss, max_nodes=50)

# %% [markdown]
# And every gradient of it can still be checked:

# %%
found = check(sum((model(x) - y) ** 2 for x, y in points))
print(repr(found), " worst:", found.worst)
assert found
