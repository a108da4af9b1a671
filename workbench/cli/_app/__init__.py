"""Ways to open the app: on a terminal, in a browser, read aloud."""
