"""The problems of GradBench: a file each, with gradwalk's program and those of its peers."""
