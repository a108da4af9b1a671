"""The library: sessions at hand (examples, recent files, recordings, what known clients keep), one line each.

In: folders of Workbench and of installed clients, read-only. Out: the list that Home shows, the story of a session in
words, and metrics over many sessions. It may import the core and the rooms up to ``formats``.
"""
