# What the compiled module reaches without going through Python.
from gradwalk.base cimport c_compat
from gradwalk.program.reroll.sequence_ids cimport Shapes
