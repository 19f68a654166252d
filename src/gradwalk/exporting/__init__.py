"""Programs as libraries in C, with wrappers for C++, Python and JavaScript."""
