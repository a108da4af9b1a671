"""Audit of a gateway: what it does to legal but unusual requests and responses, as a score card.

In: how to start or reach a gateway. Out: the damage in each case. The cases go through the gateway into an upstream of
our own; no provider is contacted. ``cases`` are what is sent and responded, ``upstream`` and ``client`` the two ends;
``run`` drives them, ``verdicts`` judges one case, ``card`` sums up. It may import what ``recorder`` may.
"""
