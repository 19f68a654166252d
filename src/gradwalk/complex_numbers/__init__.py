"""Complex numbers whose parts are Values: the class `Complex` and the functions of `gradwalk.cmath`."""
