"""Clients: how a stream becomes a message, in our reading and in that of the usual SDKs.

In: the blocks of a stream. Out: the message after each block, what each block changed, and where a usual client would
have built something else. ``known`` says how each client is recognised and pointed at another server.
It may import what ``protocols`` may.
"""
