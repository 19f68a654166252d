"""Parts of the example that trains microgpt, on a short name."""

from __future__ import annotations

import importlib
import random

import numpy
import pytest
from checkout import ROOT

from gradwalk import jit, value_and_grad

pytestmark = pytest.mark.skipif(not (ROOT / "examples").exists(), reason="a package of sources has no examples")


@pytest.fixture
def gpt(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    return importlib.import_module("microgpt")


def test_jitted_gradient_agrees_with_values(gpt):
    weights = gpt.initial_weights(27, random.Random(0))
    values = gpt.named_values(weights)
    loss = gpt.loss(values, [26, 3], [3, 26])
    loss.backward()
    value, gradient = jit(value_and_grad(gpt.loss))(weights, numpy.array([26.0, 3.0]), numpy.array([3.0, 26.0]))
    assert loss.data == pytest.approx(value, rel=1e-13)
    for name, slopes in gradient.items():
        found = numpy.array([[leaf.grad for leaf in row] for row in values[name]])
        assert found == pytest.approx(slopes, rel=1e-9, abs=1e-13)
    assert values["query"][3][5].label == "query.3.5"


def test_tokenizer_round_trip(gpt):
    tokenizer = gpt.Tokenizer(["ada", "Bob B"])
    assert tokenizer.letters == " Babdo"
    assert tokenizer.decode(tokenizer.encode("Bob B")[1:-1]) == "Bob B"
    assert tokenizer.encode(40 * "a") == [tokenizer.end, *gpt.PLACES * [tokenizer.encode("a")[1]]]


def test_file_without_names_raises(gpt, tmp_path):
    (tmp_path / "names.txt").write_text("\n \n", encoding="utf-8")
    with pytest.raises(ValueError, match="must contain at least one name"):
        gpt.read_names(tmp_path / "names.txt")
