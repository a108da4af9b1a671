"""The what-if screen and its parts (``screen`` names them)."""
