"""Tool calls as text: what a model writes as arguments, and how far it can be read."""
