from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.value.sweep cimport order
from gradwalk.value.node cimport ValueNode
