"""Checks of gradients against difference quotients, with bounds on the errors of both."""
