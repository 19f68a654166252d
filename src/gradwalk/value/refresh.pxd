from gradwalk.ops cimport evaluate
from gradwalk.value cimport reductions
from gradwalk.value.node cimport ValueNode
