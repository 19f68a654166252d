"""The lane kernel, written in C: runs a program instruction by instruction over blocks of samples."""
