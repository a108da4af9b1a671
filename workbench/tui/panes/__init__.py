"""Panes: one to a file. Each paints lines that a view model makes, and says what its cursor stands on."""
