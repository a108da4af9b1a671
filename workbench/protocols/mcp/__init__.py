"""The Model Context Protocol: what agents and tool servers send to each other, as JSON-RPC messages.

In: the bytes of both directions of a connection. Out: its messages, an exchange for each request with its response, and
what each side said of itself.
It may import what ``protocols`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.protocols.mcp.channel import (
        CALL_TOOL,
        CANCELLED,
        STDIO,
        CallInLine,
        McpChannel,
        fault_of_line,
    )
    from workbench.protocols.mcp.channel_facts import ChannelFacts, read_channel
    from workbench.protocols.mcp.course import Course, Lapse
    from workbench.protocols.mcp.http import (
        ASKED_BY,
        BATCH,
        END,
        OVER_HTTP,
        STREAM,
        as_tool_request,
        changes_of_list,
        event_messages,
        id_of_post,
        is_over_http,
        is_tool_call,
        message_object,
        messages_of_events,
        messages_over_http,
        place_in_response,
        request_object,
        response_message,
        response_object,
    )
    from workbench.protocols.mcp.messages import MessageLeaf, ToolMessage, is_known_part, read_messages
    from workbench.protocols.mcp.relations import Declarations, MessageRelation, broken_relations, message_relations
    from workbench.protocols.mcp.revisions import STATELESS, MessageFaults, is_known_method, message_faults
    from workbench.protocols.mcp.server_facts import OF_CLIENTS, OF_SERVERS, ServerFacts, needed_capability
    from workbench.protocols.mcp.sign_in import AUTHORIZATION, REGISTRATION, SIGN_IN, SIGN_INS, TOKEN, form_of
    from workbench.protocols.mcp.streams import (
        RESUMED,
        LaterStreams,
        ToolStreams,
        events_of,
        has_response,
        last_event_of,
    )
    from workbench.protocols.mcp.tool_outcomes import (
        ToolOutcome,
        argument_key,
        is_named,
        is_named_first,
        server_of,
        tool_key,
        tool_outcome,
        tools_in,
        tools_meant,
    )
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "ASKED_BY",
    "AUTHORIZATION",
    "BATCH",
    "CALL_TOOL",
    "CANCELLED",
    "END",
    "OF_CLIENTS",
    "OF_SERVERS",
    "OVER_HTTP",
    "REGISTRATION",
    "RESUMED",
    "SIGN_IN",
    "SIGN_INS",
    "STATELESS",
    "STDIO",
    "STREAM",
    "TOKEN",
    "CallInLine",
    "ChannelFacts",
    "Course",
    "Declarations",
    "Lapse",
    "LaterStreams",
    "McpChannel",
    "MessageFaults",
    "MessageLeaf",
    "MessageRelation",
    "ServerFacts",
    "ToolMessage",
    "ToolOutcome",
    "ToolStreams",
    "argument_key",
    "as_tool_request",
    "broken_relations",
    "changes_of_list",
    "event_messages",
    "events_of",
    "fault_of_line",
    "form_of",
    "has_response",
    "id_of_post",
    "is_known_method",
    "is_known_part",
    "is_named",
    "is_named_first",
    "is_over_http",
    "is_tool_call",
    "last_event_of",
    "message_faults",
    "message_object",
    "message_relations",
    "messages_of_events",
    "messages_over_http",
    "needed_capability",
    "place_in_response",
    "read_channel",
    "read_messages",
    "request_object",
    "response_message",
    "response_object",
    "server_of",
    "tool_key",
    "tool_outcome",
    "tools_in",
    "tools_meant",
]
