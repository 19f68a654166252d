"""Numbers that remember how they were made, and the backward sweep over them."""
