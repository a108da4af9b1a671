"""The adapter in the path: a client of one protocol talks to an upstream of another, and every change is told.

The core does no I/O: ``bridge`` takes a client's request and gives what goes upstream (``asking``), then takes the
upstream's answer piece by piece and gives the client's (``answering``). What the client's protocol cannot carry waits
in ``memory`` until the next request needs it (``restoring``). Around it are a listener (``server``), the process that
puts both between two recording relays (``__main__``, started by ``process``), and the tap that files each change with
the exchange it was made to (``filing``).
"""
