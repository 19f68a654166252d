"""Checks of gradients against difference quotients. The errors of gradients and quotients are bounded."""
