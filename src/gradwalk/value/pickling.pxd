from gradwalk.value cimport node as nodes
from gradwalk.value.node cimport ValueNode
