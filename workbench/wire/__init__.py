"""Bytes: exchanges, event streams, byte spans in JSON, content encodings, redaction, session files."""
