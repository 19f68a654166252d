# C declarations for other compiled modules.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.program.autodiff cimport derivative_templates
from gradwalk.program.instructions cimport simplify
from gradwalk.program.autodiff cimport finiteness
from gradwalk.program.autodiff.derivative_templates cimport Templates
from gradwalk.program.instructions.instruction_store cimport InstructionStore


cdef class Cotangents:
    cdef InstructionStore _store
    cdef Templates _templates
    cdef bint _is_forward
    cdef int *_derivative
    cdef int *_choice
    cdef int *_is_vague
    cdef int *_is_tame
    cdef int *_is_risky
    cdef int *_is_calm
    cdef bint _knows_tame
    cdef object _arrays
    cdef list _selected
    cdef list _either
    cdef list _outer
    cdef list _depth
    cdef list _condition
    cdef dict _zeros

    cdef bint has_one(self, int i) noexcept
    cdef object seed(self, int i, int derivative)
    cdef int total(self, int i) except? -1
    cdef object pull_back(self, int i, int *active)
    cdef object pull_back_take(self, int i, int *active)
    cdef object pull_back_call(self, int i, int *active)
    cdef object push_forward(self, int i)
    cdef object push_forward_take(self, int i)
    cdef object push_forward_call(self, int i)
    cdef int _choice_of_take(self, int i, tuple table) except? -2
    cdef object _contribute(self, int i, int position, int source, int target)
    cdef object _accumulate(self, int i, int found, int choice, bint is_vague)
    cdef object _merge_branches(self, int i, int found, int choice)
    cdef int _settled(self, int derivative, int choice, bint is_vague) except? -1
    cdef int _zero_like(self, int i) except? -1
    cdef int _sum(self, int first, int second) except? -1
    cdef int _select(self, int condition, int first, int second) except? -1
    cdef int _chosen(self, int i, int position, int source, int target) except? -2
    cdef int _new_choice(self, object selected, object either, int outer) except? -2
    cdef bint _is_other_branch(self, int a, int b) except? -1
    cdef int _common(self, int a, int b) except? -2
    cdef int _either_of_all(self, list instructions) except? -2
    cdef int _either_of(self, int a, int b) except? -2
    cdef list _with_one(self, object instructions)
    cdef int _condition_of(self, int choice) except? -1
    cdef int _new_condition(self, int choice) except? -1
    cdef int _condition_of_take(self, int i, int k) except? -1
    cdef int _zero_in_range(self, int index, int length) except? -1
    cdef bint _is_wild(self, int i) noexcept
    cdef bint _has_tame_partial(self, int i, int position) noexcept
    cdef bint _is_settled(self, int i) noexcept
    cdef object _find_calm(self)
