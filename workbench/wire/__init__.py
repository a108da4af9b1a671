"""Bytes of HTTP exchanges: event streams, byte spans in JSON, content encodings, URLs, redaction, session files.

In: bytes as they were received. Out: exchanges, stream events, JSON values with the byte range of each, edited JSON
text, and session files. Any bytes are accepted; unreadable ones are reported, never dropped. It may import the core and
the rooms up to ``config``.
"""
