"""Shared by several protocols: error bodies, reasoning in tags, answers as streams, protocols not decoded."""
