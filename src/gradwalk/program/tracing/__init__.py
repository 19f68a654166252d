"""Run the user's function once and remember what it computed."""
