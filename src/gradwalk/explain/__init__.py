"""Explanations of gradients: both passes in steps and sentences, pictures, numerical checks, and the page."""
