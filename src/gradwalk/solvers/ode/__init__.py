"""`odeint`: Dormand and Prince's method, and its derivatives."""
