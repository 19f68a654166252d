from gradwalk.value cimport making
from gradwalk.value cimport variadic
