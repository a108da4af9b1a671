"""Formats of other programs: importers read them, exporters write them.

In: files, pasted text, or exchanges to export. Out: sessions, or files in another program's format.
It may import the core and the rooms up to ``views``.
"""
