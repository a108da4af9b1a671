"""BLAKE2 without OpenSSL, which ``hashlib`` loads for all of its functions: that takes a short command 3 ms."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter without that module
    from hashlib import blake2b

__all__ = ["blake2b"]
