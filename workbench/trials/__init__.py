"""Trials: requests sent again with one difference, or made smaller each time.

In: a request of an inspected session, and a target's response to each trial. Out: variants with their outcomes, and the
smallest request that still fails. It may import the core and the rooms up to ``send``.
"""
