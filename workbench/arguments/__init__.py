"""Arguments of tool calls: the ladder from what a model wrote to what a tool may be given."""
