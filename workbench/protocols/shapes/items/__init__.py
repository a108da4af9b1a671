"""Flat lists of items: messages, calls, results and reasoning on one level."""
