"""Working sessions: what people made of a recorded one."""

from __future__ import annotations

from workbench.edits.branches.tree import Node, Workspace, open_for

__all__ = ["Node", "Workspace", "open_for"]
