"""Pictures of graphs as SVG, PNG and DOT, and animations."""
