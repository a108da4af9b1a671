"""Whole messages a line, arguments as objects, no stream of deltas."""
