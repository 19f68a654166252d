"""Extensions of the documentation site to Sphinx and MyST."""
