"""JSON forms of graphs."""
