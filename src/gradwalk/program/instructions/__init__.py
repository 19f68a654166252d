"""Append instructions to a tape, simplified and without duplicates, and lower tapes to programs."""
