"""Audit of a gateway: what it does to legal but unusual requests and responses, as a score card.

In: how to start or reach a gateway. Out: the damage of each case. Cases go through the gateway into our own upstream;
no provider is contacted. ``cases`` holds what is sent and answered, ``upstream`` and ``client`` are the two ends,
``running`` drives them, ``judging`` judges one case, ``card`` sums up. It may import what ``recorder`` may.
"""
