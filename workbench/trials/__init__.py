"""Requests that are tried: with one thing different, and ever smaller."""
