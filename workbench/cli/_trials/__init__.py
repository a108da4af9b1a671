"""Parts of the commands that send variants of a request: searches and what-if tables."""
