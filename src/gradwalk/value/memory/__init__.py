"""How nodes are allocated, marked and released."""
