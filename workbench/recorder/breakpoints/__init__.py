"""Breakpoints on meaning: pauses an exchange that fulfils a condition, before it is passed on.

In: exchanges that arrive, and what is armed. Out: pauses, and what a person decided on each. ``kinds`` are the
conditions, ``judge`` evaluates them in a process of its own, ``gate`` keeps what is armed and paused,
``intercepted_exchange`` holds the bytes, ``remote`` is for other processes. It may import what ``recorder`` may.
"""
