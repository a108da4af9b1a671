"""Shared by several protocols: error bodies, reasoning in tags, responses as streams, undecoded protocols.

In: bodies, text, and responses as IR. Out: the innermost error message, reasoning apart from text, stream bytes, and
the name of a protocol for which no adapter is installed. It may import what ``protocols`` may.
"""
