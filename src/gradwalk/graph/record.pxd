from gradwalk.ops cimport c_compat
from gradwalk.ops cimport evaluate
from gradwalk.value.sweep cimport order
from gradwalk.value.node cimport ValueNode
