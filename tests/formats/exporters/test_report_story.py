"""The story in a report: a line for each thing that happened, linked with its bytes."""

from __future__ import annotations

import re

from tests.formats.exporters.selecting import every
from workbench.config.resources import folder
from workbench.formats.exporters import html
from workbench.formats.importers import open_input


def page(name: str) -> str:
    session = open_input(str(folder("sessions") / f"{name}.jsonl"))
    return html.write(every(session)).files[""].decode()


def test_a_call_its_result_and_its_reasoning_light_up_together() -> None:
    made = page("deepseek-reasoning-lost")
    lines = re.findall(r'<li[^>]*class="([^"]*)"[^>]*>.*?\n<a href="#([^"]*)">(.*?)</a>', made)
    call = next(groups.split()[0] for groups, _, text in lines if text.startswith("<b>list_dir</b>"))
    together = [target for groups, target, _ in lines if groups.split()[0] == call]
    assert len(together) == 3
    for target in together:
        assert f'<span id="{target}" class="{call}">' in made
    assert f"body:has(.{call}:is(:target,:hover)) .{call}{{" in made


def test_every_link_of_the_story_leads_somewhere() -> None:
    for name in ("anthropic-long-session", "gateway-field-dropped", "responses-call-interrupted"):
        made = page(name)
        ids = re.findall(r'id="([^"]*)"', made)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'href="#([^"]*)"', made)) <= set(ids)


def test_the_bytes_of_a_line_are_its_own() -> None:
    made = page("deepseek-reasoning-lost")
    target = re.search(r'<a href="#(b\d+)"><b>user</b>', made)
    assert target
    shown = re.search(rf'<span id="{target[1]}"[^>]*>(.*?)</span>', made, re.DOTALL)
    assert shown
    assert shown[1] == "&quot;Which files are here, hidden ones too?&quot;"


def test_nothing_in_it_is_a_script() -> None:
    made = page("deepseek-reasoning-lost")
    assert "<script" not in made
    assert "default-src &#x27;none&#x27;" in made
