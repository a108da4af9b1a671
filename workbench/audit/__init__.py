"""An audit of somebody's gateway: legal but unusual requests go through it into our own upstream, and what it did to
them and to the answers becomes a score card. No provider is contacted.

``cases`` holds what is sent and answered, ``upstream`` and ``client`` are the two ends, ``running`` brings them
together, ``judging`` says what happened to one case, ``card`` sums it up.
"""
