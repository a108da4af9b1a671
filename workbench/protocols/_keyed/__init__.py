"""Blocks named by their key instead of a type (``toolUse``, ``reasoningContent``)."""
