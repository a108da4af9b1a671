"""Clients: how a stream becomes a message, in our reading and in that of the usual SDKs.

In: the blocks of a stream. Out: the message after each block, what each block changed, and where a usual client would
have built something else. ``known`` says how each client is recognised and pointed at another server.
It may import what ``protocols`` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.fronts import lazy

if TYPE_CHECKING:
    from workbench.protocols.clients import known_clients
    from workbench.protocols.clients.buffers import CALL, NAIVE
    from workbench.protocols.clients.client_facts import (
        ClientFacts,
        ClientWaits,
        ResultRule,
        SchemaRule,
        call_id_keys,
        every_client,
        facts_of,
        search_tools,
    )
    from workbench.protocols.clients.differences import ClientGroup, one_by_one, policies, where_they_differ
    from workbench.protocols.clients.effects import Effects, usage_words
    from workbench.protocols.clients.event_effects import Effect, What, noun_of
    from workbench.protocols.clients.known_clients import CLIENTS, PROVIDERS, SDKS, Client, client_of
    from workbench.protocols.clients.servers_of_run import ServerCopies, ServerFile, server_copies
    from workbench.protocols.clients.steps import Highlight, Steps, StreamStep, declared_calls, text_of
else:
    __getattr__ = lazy(__name__)

__all__ = [
    "CALL",
    "CLIENTS",
    "NAIVE",
    "PROVIDERS",
    "SDKS",
    "Client",
    "ClientFacts",
    "ClientGroup",
    "ClientWaits",
    "Effect",
    "Effects",
    "Highlight",
    "ResultRule",
    "SchemaRule",
    "ServerCopies",
    "ServerFile",
    "Steps",
    "StreamStep",
    "What",
    "call_id_keys",
    "client_of",
    "declared_calls",
    "every_client",
    "facts_of",
    "known_clients",
    "noun_of",
    "one_by_one",
    "policies",
    "search_tools",
    "server_copies",
    "text_of",
    "usage_words",
    "where_they_differ",
]
