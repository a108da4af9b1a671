"""How a stream becomes a message: ours event by event, and what usual clients would have built where they differ."""
