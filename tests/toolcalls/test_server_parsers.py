"""The parsers of vLLM and SGLang, as they were read out of their packages, and what is known of their formats.

``python -m tests.grammars.parsers`` reads them again.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.grammars.parsers import DATA
from workbench.contracts import loading
from workbench.toolcalls.formats import formats, get, stray_markers
from workbench.toolcalls.formats._wrecks import vocabulary

SERVERS: dict[str, Any] = json.loads(DATA.read_bytes())
ORDINARY = {"</function>", "</parameter>", "｜DSML｜"}
"""Marks that documents of other kinds contain, too, or that are a part of one."""
UNREAD = {
    "vllm": "apertus beam cohere_command3 cohere_command4 dots ernie45 gigachat3 granite granite-20b-fc hf hunyuan_a13b"
    " hy_v3 hy_v4 inkling internlm jamba k2_horizon lfm2 longcat minicpm5 plamo3 step3 xlam",
    "sglang": "apertus2509 beam cohere_command4 dots gigachat3 gigachat35 hunyuan inkling interns1 iquest_q1 k2_horizon"
    " lfm2 minicpm5 response_template step3",
}
"""Parsers whose format is none of ours: JSON or Python of a declared tool is found in their marks all the same."""


def read_by(server: str) -> dict[str, list[str]]:
    """Format → parsers of the server that read it, as its contract says."""
    value: Any = loading.get(server, protocol="openai-chat").term("answers.parsers")
    formats_of: dict[str, list[str]] = value["formats"]
    return formats_of


@pytest.mark.parametrize("server", SERVERS)
def test_each_parser_has_a_format_or_is_known_to_have_none(server: str) -> None:
    said = read_by(server)
    named = [name for names in said.values() for name in names]
    assert set(said) <= set(formats())
    assert sorted([*named, *UNREAD[server].split()]) == sorted(SERVERS[server]["parsers"])


@pytest.mark.parametrize("server", SERVERS)
def test_the_marks_of_a_parser_are_tags_of_its_format(server: str) -> None:
    parsers = SERVERS[server]["parsers"]
    for name, names in read_by(server).items():
        tags = getattr(get(name).parser(), "tags", None) or vocabulary().get(name)
        for mark in {mark for each in names for mark in parsers[each]["marks"]} if tags else ():
            is_tag = tags.pattern.search(mark) or tags.is_beginning(mark) or mark == "functools"
            assert is_tag or mark in ORDINARY or stray_markers(f"Done.\n{mark}\n"), (name, mark)


def test_a_mark_of_any_parser_is_a_stray_marker_where_no_call_is() -> None:
    marks = {
        m.replace("|>[", "|>")
        for server in SERVERS.values()
        for each in server["parsers"].values()
        for m in each["marks"]
    }
    assert len(marks) > 60
    assert {mark for mark in marks - ORDINARY if not stray_markers(f"It is done.\n{mark}\n")} == set()
