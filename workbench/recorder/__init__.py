"""The recording reverse proxy: a process of its own between a client and its upstreams.

In: connections of clients on loopback, and where their requests go. Out: the same bytes at the other side, and a
session file of what passed. Bytes are forwarded as they come; recording never delays or ends traffic.
It may import the core and the rooms up to ``probes``.
"""
