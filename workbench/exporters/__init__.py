"""Exporters: an exchange as something that other programs read. One to a file; pure functions."""
