"""Special functions with the names of `scipy.special`, composed of the operations of the table."""
