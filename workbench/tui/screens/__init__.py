"""Screens: home, a session, and the dialogs over them."""
