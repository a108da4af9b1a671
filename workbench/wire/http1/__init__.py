"""HTTP/1.1 messages as bytes, without I/O.

In: bytes of a connection. Out: heads, parsed strictly (RFC 9112) and kept line by line, the end of each body, and
whether the relay may accept a request. Bodies are followed and never re-framed. It may import what ``wire`` may.
"""
