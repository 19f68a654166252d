"""Every gradient beside a difference quotient, with a bound on the error of both."""
