"""Grammars of request and answer bodies, derived from the official types of each provider.

``python -m tests.grammars`` writes ``workbench/protocols/NAME/grammar*.json`` from the newest packages and prints what
changed. The form of these files is in ``workbench/protocols/grammars.py``; what providers accept beyond their types is
in ``grammar-overlay.json`` beside them, by hand, each line with its reason.
"""
