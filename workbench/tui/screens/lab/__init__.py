"""Probe lab, its step screen, and their parts."""
