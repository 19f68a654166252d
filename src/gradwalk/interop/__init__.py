"""Functions for other libraries: PyTorch, JAX, PyTensor, CasADi, IPOPT and scikit-learn call what gradwalk differentiates."""
