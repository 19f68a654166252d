from gradwalk.ops cimport evaluate
from gradwalk.value cimport variadic
from gradwalk.value.node cimport ValueNode
