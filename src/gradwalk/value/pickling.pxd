from gradwalk.value cimport modes
from gradwalk.value cimport node as nodes
from gradwalk.value.node cimport ValueNode
