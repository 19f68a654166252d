"""Find where in the user's program a Value was made, and what it is called there."""
