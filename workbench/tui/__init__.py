"""The app, and the only room that imports Textual.

In: a session, keys and the mouse. Out: screens. It knows no protocol: it shows pointers, parts, spans and lines that
its view models (``models``) make. It may import the core and the rooms up to ``library``.
"""
