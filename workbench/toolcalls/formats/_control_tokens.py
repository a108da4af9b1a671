"""Tokens of chat templates that belong to no call: turns, roles, channels, ends, reasoning.

They are found as markers, with the word that such a token takes behind it (``<|start|>assistant``), and by halves.
"""

from __future__ import annotations

from typing import Final

from workbench.toolcalls.formats._tags import Tags, TagSpec

_WORD: Final = (
    r"(?:assistant|user|system|developer|tool|model|ipython|analysis|commentary|final|json|[a-z]{1,12}(?=\s*\Z))?"
)
_NAMES: Final = (
    *("im_start", "im_end", "im_sep", "im_middle", "im_system", "im_user", "im_assistant", "start", "end", "channel"),
    *("message", "constrain", "call", "return", "start_header_id", "end_header_id", "begin_of_text", "end_of_text"),
    *("eot_id", "eom_id", "eot", "eom", "python_tag", "python_start", "python_end", "endoftext", "end_of_msg"),
    *("observation", "user", "assistant", "system", "tool", "plugin", "action_start", "action_end", "header_start"),
    *("header_end", "START_ACTION", "END_ACTION", "START_THINKING", "END_THINKING", "START_RESPONSE", "END_RESPONSE"),
    *("tools_prefix", "tools_suffix", "plamo:begin_tool_requests:plamo", "plamo:begin_tool_request:plamo"),
    *("plamo:begin_tool_name:plamo", "plamo:tag:plamo", "plamo:tag"),
    *("START_OF_TURN_TOKEN", "END_OF_TURN_TOKEN", "START_TOOL_RESULT", "END_TOOL_RESULT", "CHATBOT_TOKEN"),
)
_TAGS: Final = (
    *("<start_of_turn>", "<end_of_turn>", "<tool_response>", "</tool_response>", "<arg_key>", "</arg_key>"),
    *("<arg_value>", "</arg_value>", "<unused>", "<eos>", "<bos>", "<eop>", "[/TOOL_RESULTS]", "[TOOL_RESULTS]"),
)

GEMMA: Final = ("channel", "turn", "tool", "tool_response")
"""Sections of Gemma 4, between ``<|NAME>`` and ``<NAME|>``."""

LONE_END: Final = r"</(?:mm:)?think(?:ing)?>"
"""The end of reasoning: a marker where nothing opened it."""

_SERVERS: Final = (
    r"</?(?:[a-z0-9]{2,16}[:_|])?(?:tool|function)_calls?>|</?ifm\|\w{1,24}>|</?｜GCML｜\w{1,24}>"
    r"|</?atem:(?:invoke|parameter)[^<>\n]{0,300}>"
)
"""Tags of models that only servers' parsers read: dots, LongCat, IQuest, Granite, Jamba, K2 Horizon, GigaChat, Muse."""

GLUED_WORDS: Final = ("assistantfinal", "assistantcommentary", "assistantanalysis")
GLUED: Final = rf"(?:\A|(?<=[.!?:)\"'\]}}…\n]))(?:{'|'.join(GLUED_WORDS)})(?=\S|\Z)(?!\s?to=)"
"""A turn and a channel of gpt-oss whose tokens a server removed: ``…assistantfinal…``."""

MARKERS: Final = (
    rf"<\|(?:im_start|start|channel)\|>{_WORD}|<start_of_turn>{_WORD}|<end_of_turn>"
    rf"|<\|(?:start_header_id|header_start)\|>{_WORD}(?:<\|(?:end_header_id|header_end)\|>)?"
    rf"|<\|(?:{'|'.join(GEMMA)})>(?:thought\b)?|<(?:{'|'.join(GEMMA)})\|>|{_SERVERS}|<\|(?:{'|'.join(_NAMES)})\|>|<arg_key>|<arg_value>|{LONE_END}|{GLUED}"
)
"""Pattern of the whole tokens."""

HALVES: Final = Tags(
    *(TagSpec("token", f"<|{name}|>") for name in _NAMES),
    *(TagSpec("token", tag) for tag in _TAGS),
    *(TagSpec("token", tag) for name in GEMMA for tag in (f"<|{name}>", f"<{name}|>")),
)
"""The same, for their beginnings."""
