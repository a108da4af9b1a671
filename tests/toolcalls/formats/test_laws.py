"""What holds for every text format whose cases stand in a file beside this one.

Such a file has ``text_format``; ``CASES`` and ``INNOCENT`` texts; ``MARKUP``, pieces of its tags; and ``HOSTILE``
pieces, which are repeated.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.toolcalls.formats import (
    found,
    test_cline_xml,
    test_deepseek_v3,
    test_deepseek_v31,
    test_dsml,
    test_functools,
    test_gemma,
    test_groq,
    test_harmony,
    test_json_fence,
    test_llama_json,
    test_mistral,
    test_pythonic,
    test_react,
    test_tool_code,
)
from workbench.errors import LocalProtocolError

MODULES: tuple[ModuleType, ...] = (
    *(test_cline_xml, test_deepseek_v3, test_deepseek_v31, test_dsml, test_gemma, test_groq, test_harmony),
    *(test_functools, test_react, test_tool_code),
    *(test_json_fence, test_llama_json, test_mistral, test_pythonic),
)
LENGTH = 100_000
"""Characters of a hostile text: what is quadratic in them would not come to an end."""


def named(module: ModuleType) -> str:
    return str(module.text_format.name)


CASES = [pytest.param(m, *case[1:], id=f"{named(m)}: {case[0]}") for m in MODULES for case in m.CASES]
INNOCENT = [pytest.param(m, text, id=f"{named(m)} {n}") for m in MODULES for n, text in enumerate(m.INNOCENT)]
HOSTILE = [pytest.param(m, unit, id=f"{named(m)} {n}") for m in MODULES for n, unit in enumerate(m.HOSTILE)]

of_each = pytest.mark.parametrize("module", MODULES, ids=named)


@pytest.mark.parametrize(("module", "text", "expected"), CASES)
def test_calls(module: ModuleType, text: str, expected: list[tuple[Any, ...]]) -> None:
    found.check(module.text_format, text, expected)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("module", "text", "expected"), CASES)
def test_cuts(module: ModuleType, text: str, expected: list[tuple[Any, ...]]) -> None:
    found.check_cuts(module.text_format, text)


@pytest.mark.parametrize(("module", "text"), INNOCENT)
def test_prose(module: ModuleType, text: str) -> None:
    found.check_prose(module.text_format, text)


@of_each
@pytest.mark.parametrize("bad", found.UNSAYABLE)
def test_render_refuses(module: ModuleType, bad: Any) -> None:
    with pytest.raises(LocalProtocolError):
        module.text_format.render([bad])


@of_each
def test_any_text_gives_the_same_in_pieces(module: ModuleType) -> None:
    words = [*module.MARKUP, "{", "}", '"', "\\", "read", "\n", "<think>", "</think>", "`"]

    @given(st.lists(st.sampled_from(words), max_size=20).map("".join))
    def holds(text: str) -> None:
        found.check_places(module.text_format, text)
        assert found.read(module.text_format, list(text)) == found.read(module.text_format, [text])

    holds()


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("module", "unit"), HOSTILE)
def test_hostile_text_is_read_whole(module: ModuleType, unit: str) -> None:
    text = unit * (LENGTH // len(unit))
    findings = found.read(module.text_format, [text[n : n + 7] for n in range(0, len(text), 7)])
    assert [f.start for f in findings] == [0, *(f.end for f in findings[:-1])]
    assert findings[-1].end == len(text)
