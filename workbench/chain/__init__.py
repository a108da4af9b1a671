"""The chain: which calls are closed, which reasoning is owed where. Knows no protocol and no provider."""
