"""Calls: instructions that run other programs, such as loops and switches."""
