"""What `gradwalk.math` has besides the functions of the table: compositions of these."""
