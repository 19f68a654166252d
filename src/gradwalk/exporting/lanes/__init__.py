"""Programs of batches in C, several samples side by side."""
