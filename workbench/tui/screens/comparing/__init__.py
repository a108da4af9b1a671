"""Compare screen and its parts (``screen`` names them)."""
