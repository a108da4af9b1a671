"""Translation in the path: a client of one protocol uses an upstream of another; every change is reported.

In: a client's request and the upstream's response, piece by piece. Out: each in the protocol of the other side.
The translation does no I/O: ``asking`` and ``answering`` translate, ``memory`` keeps what the client's protocol cannot
carry until the next request needs it (``restoring``). ``server`` listens, ``process`` starts ``__main__`` with the
bridge between two recording relays, and ``filing`` records each change with its exchange.
It may import what ``recorder`` may.
"""
