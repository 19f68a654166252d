from gradwalk.ops.compiled cimport evaluate
from gradwalk.value cimport variadic
from gradwalk.value.node cimport ValueNode
