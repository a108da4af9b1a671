"""The recording reverse proxy: a process of its own that forwards bytes as they come and writes them to a session."""
