"""An audit of somebody's gateway: what it does to legal but unusual requests and answers, as a score card.

They go through it into our own upstream; no provider is contacted.

``cases`` holds what is sent and answered, ``upstream`` and ``client`` are the two ends, ``running`` brings them
together, ``judging`` says what happened to one case, ``card`` sums it up.
"""
