"""The problems of GradBench, one file each, with the programs of gradwalk and its peers."""
