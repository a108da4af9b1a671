"""Shared by several protocols: error bodies, reasoning in tags, repeated settings, undecoded protocols.

In: bodies, text, and responses as IR. Out: the innermost error message, reasoning apart from text, stream bytes, and
the name of a protocol for which no adapter is installed. It may import what ``protocols`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.protocols.common import undecoded_protocols
    from workbench.protocols.common.codec import string_of, write_part
    from workbench.protocols.common.error_body import read_error
    from workbench.protocols.common.settings import repeated_settings
    from workbench.protocols.common.think_tags import Splitter
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "Splitter",
    "read_error",
    "repeated_settings",
    "string_of",
    "undecoded_protocols",
    "write_part",
]
