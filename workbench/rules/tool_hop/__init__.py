"""Rules on the tool hop: connections with tool servers (MCP), and the model's calls beside what servers were asked.

In: the messages of a connection, and the tool calls and results of the model. Out: findings, for the family ``mcp``.
It may import what the rules may.
"""
