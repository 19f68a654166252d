"""Let modules of other packages compute with Values."""
