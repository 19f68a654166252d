"""Append simplified, hash-consed instructions to a tape and lower tapes to programs."""
