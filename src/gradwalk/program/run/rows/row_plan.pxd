# Makes the C functions of these modules available to row_plan.py.
from gradwalk.base cimport c_compat
from gradwalk.program.run.rows cimport row_loops
