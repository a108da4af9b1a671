"""Rules: what is wrong with a chain under a provider's contract."""
