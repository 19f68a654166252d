"""`odeint`: the Dormand-Prince method, and derivatives of its solutions."""
