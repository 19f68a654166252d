"""Write programs as text: listings, JSON and C."""
