"""Story screen: the conversations of a session from top to bottom, and over time."""
