"""Tags, and what may be the beginning of one."""

from __future__ import annotations

from workbench.toolcalls.formats._tags import Tags, TagSpec


def test_tags_know_the_longest_beginning() -> None:
    tags = Tags(TagSpec("a", "< tool >"), TagSpec("b", "<tool=", r"[^<>]{1,20}>"))
    for text, held in (
        ("x<", 1), ("x< t", 1), ("x<tool", 1), ("x<tool=ab", 1), ("x<toil", 6), ("a<b<to", 3),
    ):  # fmt: skip
        assert tags.find_partial(text, 0) == held, text
    found = tags.pattern.search("x<tool=ab>")
    assert found and tags.kind(found) == "b"
    assert tags.last == ">"
