"""Flatten and unflatten trees of numbers: lists, tuples, dicts, dataclasses, arrays and Modules."""
