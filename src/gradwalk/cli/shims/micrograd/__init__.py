"""gradwalk under the name of micrograd. `gradwalk.cli.micrograd` puts the folder above this one onto Python's path."""
