"""What asv measures of every version, to see what a change did to speed: `asv run`, then `asv publish`."""
