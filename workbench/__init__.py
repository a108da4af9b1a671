"""A terminal workbench for people who debug tool use between agents and language models."""

__version__ = "0.1.0"

from workbench import moved_modules

moved_modules.install()
