"""Real traffic: the Python SDKs build from every recorded stream what our policies of them say."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.protocols.clients import sdks
from tests.protocols.clients.test_python_sdks import ours, plain
from tests.thinning import Thin
from workbench.formats.importers import open_input
from workbench.protocols.clients.blocks import AnthropicPython
from workbench.protocols.clients.chat_by_merging import OpenAIPythonChat
from workbench.protocols.clients.differences import policies, where_they_differ
from workbench.protocols.clients.effects import Effects
from workbench.protocols.clients.event_effects import What
from workbench.protocols.decode import DecodedExchange

PROTOCOLS = ("anthropic-messages", "openai-chat")
"""Those whose clients are compared in all that they build."""
OTHERS = (
    "bedrock-converse",
    "bedrock-invoke",
    "cohere-v2",
    "gemini",
    "gemini-interactions",
    "ollama",
    "openai-responses",
)


def streams(recordings: Path, protocols: Sequence[str] = PROTOCOLS) -> Iterator[tuple[str, DecodedExchange]]:
    with (recordings / "index.tsv").open(encoding="utf-8", newline="") as index:
        rows = [row for row in csv.DictReader(index, delimiter="\t") if row["streaming"] in ("yes", "mixed")]
    for row in rows:
        if row["protocol"] not in protocols or not (recordings / row["file"]).is_file():
            continue
        session = open_input(str(recordings / row["file"]))
        for n in range(len(session)):
            decoded = DecodedExchange(n, session.exchange(n))
            if decoded.protocol in protocols and decoded.events and decoded.response:
                yield f"{row['file']} {n}", decoded


def test_the_sdks_build_what_we_say(recordings: Path, thin: Thin) -> None:
    seen = wrong = 0
    for name, decoded in thin(streams(recordings), 2):
        is_blocks = decoded.protocol == "anthropic-messages"
        policy, sdk = (AnthropicPython, sdks.anthropic) if is_blocks else (OpenAIPythonChat, sdks.openai)
        seen += 1
        assert plain(ours(policy(), decoded.response_text)) == plain(sdk(decoded.response_text)), name
        wrong += any(not group.agrees for group in where_they_differ(decoded))
    assert seen > 20
    assert 0 < wrong < seen


def test_other_protocols_are_told_event_by_event_and_their_clients_agree(recordings: Path) -> None:
    seen = set()
    for name, decoded in streams(recordings, OTHERS):
        seen.add(decoded.protocol)
        groups = where_they_differ(decoded)
        assert not groups or policies(decoded.protocol or ""), name
        is_healthy = decoded.response.is_complete and not decoded.response.error and not decoded.response.anomalies
        assert not is_healthy or all(group.agrees for group in groups), name
        effects = Effects(decoded.response, decoded.events)
        deeds = [effects.of(n) for n in range(len(decoded.events))]
        assert all(deed.words for done in deeds for deed in done), name
        said = [n for n, done in enumerate(deeds) if done[0].what is What.NOTHING and not done[0].text]
        assert said in ([], [0], [1]), name  # a start that says nothing, or a status behind it
        assert any(deed.what in (What.ENDED, What.FINISHED, What.ERROR) for deed in deeds[-1] + deeds[-2]), name
    assert seen == set(OTHERS)
