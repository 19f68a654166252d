"""Graphs as JSON."""
