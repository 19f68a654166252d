"""Write programs as C."""
