# C declarations of the imported modules.
from gradwalk.base cimport c_compat
from gradwalk.program.reroll.sequence_ids cimport Shapes
