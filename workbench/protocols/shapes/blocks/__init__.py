"""Content made of typed blocks (``{"type": "text", …}``): requests, answers, streams."""
