"""Strict JSON: nan and inf are strings, and lone surrogates are escaped, so that the text can be encoded as UTF-8."""

from __future__ import annotations

import json
import math
import re
from typing import Any


def to_number(number: float) -> float | str:
    """Return a finite number unchanged; return nan and infinities as "nan", "inf" or "-inf"."""
    return number if math.isfinite(number) else str(number)


def plain(item: Any) -> Any:
    """Convert nested data to JSON data: tuples become lists, and nan and inf become strings."""
    if isinstance(item, float):
        return to_number(item)
    if isinstance(item, dict):
        return {key: plain(value) for key, value in item.items()}
    return [plain(part) for part in item] if isinstance(item, (list, tuple)) else item


def as_json(item: Any) -> str:
    """Write plain data as indented JSON; raises `ValueError` if a number is nan or inf."""
    return encodable(json.dumps(item, indent=1, ensure_ascii=False, allow_nan=False))


def encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, by JSON escapes."""
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)
