"""Sending: targets, credentials, retries, the tool loop, and the verdicts of all contracts on one request.

In: a request and a target (``sim:CONTRACT``, a URL, a configured name). Out: a preview of the request, the response as
it arrives, and the finished exchange. Keys are read when a request is sent and never stored.
It may import the core and the rooms up to ``simulator``.
"""
