"""The files of an exported library."""
