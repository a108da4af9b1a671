"""Trials: requests that are sent again with one thing different, or smaller each time.

In: a request of an inspected session, and what a target answers to each trial. Out: variants with their outcomes, and
the smallest request that still fails. It may import the core and the rooms up to ``send``.
"""
