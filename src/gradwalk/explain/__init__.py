"""Explanations of gradients: descriptions of both passes step by step, pictures, numerical checks, and an HTML page."""
