"""Breakpoints on meaning: what a recorder may pause an exchange for, before it is passed on.

What there is to break on, and whether an exchange hits it, is data and judgement here (``kinds``); the recorder holds
the bytes (``workbench.recorder.held``) and asks a process of its own (``judge``). ``remote`` is for everybody else.
"""
