"""The page and the notebook widget: a walk as one HTML file that works offline."""
