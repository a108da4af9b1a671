"""The sessions at hand: examples, recent files, recordings, and what known clients keep, each told in a line."""
