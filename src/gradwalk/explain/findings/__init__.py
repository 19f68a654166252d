"""Problems in a graph, such as dead units and gradients that vanish: `find.findings(graph)`."""
