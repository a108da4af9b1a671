"""Counts of tool use in sessions, their tokens, and what they cost by list prices."""
