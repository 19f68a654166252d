"""Pictures of graphs: SVG, PNG, DOT, and animations."""
