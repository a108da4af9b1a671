"""Targets: where a request can be sent."""
