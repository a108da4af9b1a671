"""Panes, one per file. Each paints the lines of a view model and reports the item under its cursor."""
