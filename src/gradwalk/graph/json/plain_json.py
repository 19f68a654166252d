"""JSON as gradwalk writes it: strict, with nan and inf as strings, and in letters that every file can hold."""

from __future__ import annotations

import json
import math
import re
from typing import Any


def to_number(number: float) -> float | str:
    """Return a number as JSON can hold it.

    Args:
        number: Any float.

    Returns:
        The number itself, or "nan", "inf" or "-inf", which JSON has no numbers for.
    """
    return number if math.isfinite(number) else str(number)


def plain(item: Any) -> Any:
    """Return nested data with lists in place of tuples, and every float by `to_number`.

    Args:
        item: Nested dictionaries, lists and tuples of strings, numbers, booleans and None.
    """
    if isinstance(item, float):
        return to_number(item)
    if isinstance(item, dict):
        return {key: plain(value) for key, value in item.items()}
    return [plain(part) for part in item] if isinstance(item, (list, tuple)) else item


def as_json(item: Any) -> str:
    """Write plain data as indented JSON.

    Args:
        item: What `plain` returned.

    Returns:
        The JSON text, which can be written to a file.

    Raises:
        ValueError: A number is nan or inf.
    """
    return encodable(json.dumps(item, indent=1, ensure_ascii=False, allow_nan=False))


def encodable(text: str) -> str:
    """Replace lone surrogates, which no file can hold, by JSON's escapes for them.

    Args:
        text: JSON text.

    Returns:
        Text that can be written to a file.
    """
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)
