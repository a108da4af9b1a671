"""Branches: the tree of edits and sent requests of a recorded session, which itself never changes.

In: a session, and edits or responses to keep. Out: ``Workspace``, a tree of nodes stored on disk, and a branch in the
place of the recorded session. It may import what ``edits`` may.
"""

from __future__ import annotations

from workbench.edits.branches.tree import BranchNode, Workspace, open_for

__all__ = [
    "BranchNode",
    "Workspace",
    "open_for",
]
