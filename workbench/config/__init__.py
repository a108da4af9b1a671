"""Safe YAML, and the files that ship with the program with the user's own beside them."""
