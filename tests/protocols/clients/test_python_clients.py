"""Our policies of Python clients that are no dependency here, against what these built, checked by hand.

``langchain-openai`` 1.7.4 (tool call chunks of ``ChatOpenAI.stream``), ``openai-agents`` 0.24.0 (the completed response
of ``OpenAIChatCompletionsModel.stream_response``), ``pydantic-ai-slim`` 2.68.0 (``OpenAIChatModel.request_stream``)
and ``llm`` 0.36 (``Response.tool_calls``) were each given these bytes through the ``openai`` SDK, and gave what stands
here: (id, name, arguments) of each call, or the error they raise. ``MADE_UP`` is an id that the client invents.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocols.clients.test_javascript_sdks import ROLE, call
from tests.protocols.clients.test_python_sdks import Json, chat_stream, ours
from workbench.protocols.clients.buffers import MADE_UP
from workbench.protocols.clients.chat_by_index import Llm, OpenAIAgentsChat
from workbench.protocols.clients.chat_by_merging import LangChain, PydanticAI

A, B = '{"a": 1}', '{"b": 2}'
FIRST, SECOND = call(0, "call_1", "read_file", A), call(0, "call_2", "list_dir", B)
IN_PIECES = [FIRST, call(0, "call_2", "list_dir", ""), call(0, arguments=B, kind="")]
NO_INDEX = [call("absent", "call_1", "read_file", '{"a"'), call("absent", arguments=": 1}", kind="")]
LATE_NAME = [call(0, "call_1", None, '{"a"'), call(0, None, "read_file", ": 1}")]
CHANGED_ID = [call(0, "call_1", "read_file", '{"a"'), call(0, "call_9", None, ": 1}")]
AS_OBJECT = [call(0, "call_1", "read_file", {"a": 1})]
ONE = ("call_1", "read_file", A)

TABLE: list[tuple[str, list[Json], Any, Any, Any, Any]] = [
    # deltas, LangChain, OpenAI Agents, Pydantic AI, llm
    (
        "index reused",
        [FIRST, SECOND],
        [ONE, ("call_2", "list_dir", B)],
        [("call_2", "list_dir", A + B)],
        [("call_2", "read_filelist_dir", A + B)],
        "JSONDecodeError",
    ),
    (
        "index reused in pieces",
        IN_PIECES,
        [("call_1", "read_file", A + B), ("call_2", "list_dir", "")],
        [("call_2", "list_dir", A + B)],
        [("call_2", "read_filelist_dir", A + B)],
        "JSONDecodeError",
    ),
    ("no index", NO_INDEX, [("call_1", "read_file", '{"a"'), (None, None, ": 1}")], [ONE], [ONE], [ONE]),
    (
        "no id",
        [call(0, None, "read_file", A)],
        [(None, "read_file", A)],
        [("", "read_file", A)],
        [(MADE_UP, "read_file", A)],
        [(MADE_UP, "read_file", A)],
    ),
    ("late name", LATE_NAME, [ONE], [ONE], [ONE], [("call_1", None, A)]),
    (
        "id changes",
        CHANGED_ID,
        [("call_1", "read_file", '{"a"'), ("call_9", None, ": 1}")],
        [("call_9", "read_file", A)],
        [("call_9", "read_file", A)],
        [ONE],
    ),
    (
        "arguments as an object",
        AS_OBJECT,
        "ValidationError",
        "TypeError",
        [("call_1", "read_file", {"a": 1})],
        "TypeError",
    ),
]
CLIENTS = (LangChain, OpenAIAgentsChat, PydanticAI, Llm)


@pytest.mark.parametrize("row", TABLE, ids=[row[0] for row in TABLE])
def test_table(row: tuple[str, list[Json], Any, Any, Any, Any]) -> None:
    body = chat_stream([ROLE, *row[1]])
    for policy, expected in zip(CLIENTS, row[2:], strict=True):
        kind, value = ours(policy(), body)
        built = value if kind == "raised" else [(i, n, a or "") for _, i, n, a in value[0]]
        assert built == expected, policy.name
