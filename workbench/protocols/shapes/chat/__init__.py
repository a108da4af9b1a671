"""Choices with messages and deltas: Chat Completions and its dialects."""
