"""Forward and reverse mode on instructions."""
