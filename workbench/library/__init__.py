"""The library: the sessions on this machine (examples, recent files, recordings, sessions of known clients).

In: folders of Workbench and of installed clients, read-only. Out: the sections of Home, a summary of each session, and
metrics over many sessions. It may import the core and the rooms up to ``formats``.
"""
