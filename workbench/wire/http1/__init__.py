"""HTTP/1.1 messages as bytes, without I/O: heads are read strictly (RFC 9112), bodies are followed and never re-cut."""
