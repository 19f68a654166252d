from gradwalk.value cimport apply
from gradwalk.value cimport variadic
