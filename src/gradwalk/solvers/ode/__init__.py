"""`odeint`: integration of ordinary differential equations, and derivatives of the solutions."""
