"""Append instructions, simplified and shared, and make programs of them."""
