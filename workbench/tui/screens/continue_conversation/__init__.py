"""Screen that continues a conversation step by step, and its parts."""
