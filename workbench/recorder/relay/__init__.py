"""The relay: a reverse proxy on loopback that forwards HTTP/1.1 unchanged and reports each exchange as events.

In: connections of clients, base URLs of upstreams. Out: the same bytes at the other side, and events. ``server``
listens, ``client_connection`` reads requests, ``forward`` carries one exchange, ``connector`` opens and
``upstream_connection`` keeps connections to upstreams. It may import what ``recorder`` may.
"""
