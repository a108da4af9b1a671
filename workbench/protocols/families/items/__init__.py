"""Flat lists of items: messages, calls, results and reasoning beside each other."""
