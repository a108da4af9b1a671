"""Capture: writes the events of a relay to a session file, without delaying traffic.

In: events. Out: a session file without secrets. ``queue`` takes events in the relay's loop, ``keeper_process`` hands
them to a process of its own, ``keeper`` writes there, ``open_exchange`` is one exchange until it is complete, and the
``redaction`` modules replace secrets before anything is written. It may import what ``recorder`` may.
"""
