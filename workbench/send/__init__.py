"""Sending: targets, credentials, retries, the tool loop, and the verdict of every contract on one history.

In: a request and a target (``sim:CONTRACT``, a URL, a configured name). Out: what would go out, the response as it
arrives, and the exchange that remains. Keys are read when a request is sent and never stored.
It may import the core and the rooms up to ``simulator``.
"""
