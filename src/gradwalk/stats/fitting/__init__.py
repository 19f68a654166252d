"""Maximum-likelihood estimation."""
