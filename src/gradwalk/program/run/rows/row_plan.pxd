# Lets the compiled row_plan.py call C by the names of these modules.
from gradwalk.base cimport c_compat
from gradwalk.program.run.rows cimport row_loops
