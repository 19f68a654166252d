"""Programs of batches as files."""
