"""What the documentation site has beyond Sphinx and MyST."""
