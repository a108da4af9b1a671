"""Breakpoints on meaning: what a recorder may pause an exchange for, before it is passed on.

In: exchanges that arrive, and what is armed. Out: whether one is hit, and why. ``kinds`` is data and judgement; the
recorder holds the bytes (``workbench.recorder.held``) and asks a process of its own (``judge``); other processes use
``remote``. It may import what ``recorder`` may.
"""
