"""Instructions that hold programs: loops, branches and batches."""
