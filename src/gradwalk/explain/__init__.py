"""Explains how a gradient came about: both passes in steps and sentences, pictures, numerical checks, the page."""
