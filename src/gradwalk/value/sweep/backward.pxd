from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.value cimport modes
from gradwalk.value.memory cimport marks
from gradwalk.value cimport node as nodes
from gradwalk.value.sweep cimport order
from gradwalk.value.node cimport ValueNode
