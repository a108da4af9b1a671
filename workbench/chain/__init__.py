"""The chain of tool calls: which calls are closed, and which reasoning is required in which request.

In: requests and responses as IR, in order, and what a provider demands as plain values (``terms``). Out:
conversations, pairs of call and result, the reasoning ledger, and the same turn at several hops. It knows no protocol
and no provider. It may import the core and the rooms up to ``protocols``.
"""
