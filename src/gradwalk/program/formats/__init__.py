"""Write programs as text (listings, JSON and C), and read them from JSON."""
