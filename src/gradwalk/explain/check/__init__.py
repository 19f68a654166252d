"""Checks every gradient against a difference quotient, with a bound on the error of both."""
