"""Values, which record the operations that computed them, and the backward sweep."""
