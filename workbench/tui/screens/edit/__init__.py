"""The edit screen: the screen, and the parts that it holds (``screen`` names them)."""
