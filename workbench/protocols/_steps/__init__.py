"""Interactions: requests and answers that are lists of steps, on a server that may keep them."""
