"""Large results: the largest tool result that is accepted, and the largest that is read to its end.

``large_results``: ``{"accepted": bytes, "read": bytes, "tried": bytes}``: the largest of each; 0 if none.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

from workbench.probes._drive import PlayedConversation, drive, follow, without_call
from workbench.probes._script import Ask, Probe, Sample, Script, Subject, failed, partly, passed, unclear
from workbench.probes._tools import ECHO, Toolbox
from workbench.send.loop import CallResult, Limits
from workbench.wire import Exchange

SIZES = (4_096, 8_192, 16_384, 32_768, 65_536)
"""Bytes of a result, doubling."""

LINE = "The quick brown fox jumps over the lazy dog, and nothing else happens here.\n"


def script(subject: Subject) -> Script:
    """One call; its result in every size, with a codeword at the very end."""
    code = f"{subject.nonce}-end"
    words = (
        f"Call probe_echo with the text {subject.nonce}. Its result is long, and names a codeword in its last line. "
        "Then answer with that codeword alone."
    )
    box = Toolbox(subject.nonce)
    request = subject.request(words, (ECHO,))
    first = yield from drive(subject, request, "a call with a long result", box.run, limits=Limits(1))
    if not first.calls:
        return (yield from without_call(subject, first))
    accepted = read = largest_tried = 0
    why = ""
    for size in SIZES:
        text = filler(size, code)
        title = f"a result of {size:,} bytes"
        played = yield from follow(first.before_results(), title, lambda _, text=text: CallResult(text))  # type: ignore[misc]
        largest_tried = size
        if played.is_refused:
            why = f"{size:,} bytes are refused: {played.ended.text}"
            break
        accepted = size
        if code not in played.text():
            if played.is_cut:
                return unclear("the response reached the token limit too early")
            why = f"{size:,} bytes are accepted, but the end is not read"
            if not read and not (yield from _is_short_read(first, code)):
                return unclear("the model does not read a short result either, so the probe is inconclusive")
            break
        read = size
    return evaluate({"accepted": accepted, "read": read, "tried": largest_tried}, why)


def _is_short_read(first: PlayedConversation, code: str) -> Generator[Ask, Exchange, bool]:
    """The model reads a result that consists of the codeword."""
    text = f"The codeword is {code}"
    played = yield from follow(first.before_results(), "a short result", lambda _: CallResult(text))
    return code in played.text()


def filler(size: int, code: str) -> str:
    """A text of a given size that ends with the codeword."""
    end = f"The codeword is {code}"
    body = LINE * (size // len(LINE) + 1)
    return body[: size - len(end) - 1] + "\n" + end


def evaluate(sizes: Mapping[str, int], why: str) -> Sample:
    """Verdict from the sizes."""
    facts = {"large_results": dict(sizes)}
    if not why:
        return passed(f"results of {sizes['read']:,} bytes are read to the end", **facts)
    return partly(f"read up to {sizes['read']:,} bytes; {why}", **facts) if sizes["read"] else failed(why, **facts)


probe = Probe(
    "large-results",
    "how large can tool results be, and still be accepted and read?",
    len(SIZES) + 3,
    script,
    tokens=sum(SIZES) // 2,
)
