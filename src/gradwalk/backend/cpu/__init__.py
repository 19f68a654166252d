"""The lane kernel in C: a program's instructions over blocks of samples."""
