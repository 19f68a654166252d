"""Structures of numbers: lists, tuples, dicts, dataclasses, arrays and Modules, taken apart and put together."""
