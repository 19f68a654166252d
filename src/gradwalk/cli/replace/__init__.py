"""Replacement of a script's own Value class by gradwalk's."""
