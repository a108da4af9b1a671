"""Continuing a conversation step by step: the screen, and the parts that it holds."""
