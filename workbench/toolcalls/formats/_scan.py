r"""Tags in text that arrives in pieces: finds the start and the end of calls, and prose.

A format defines its tags (``Tags``), which of them begin a call, the meaning of each tag inside a call (``step``) and,
when the call's text is complete, its content (``read``). Everything else is the same for all formats and is here:

* what may be the beginning of a tag is held back, everything else is handed out at once;
* a tag in Markdown code (a fence, or backticks on the same line) is quoted, and quoted tags begin no call;
* ``<think>`` is followed, so that a call inside it is recognised;
* findings tile the text: text outside of calls is prose.

Every character is looked at a bounded number of times, however the text is cut: text inside a call is only searched
when the last character of a tag arrives, and a call's text is joined once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, Protocol

from workbench.ir import ToolDef
from workbench.lazy_dataclass import dataclass, field, replace
from workbench.toolcalls.formats import Prose, ProseOrCall, TextCall
from workbench.toolcalls.formats._markdown import MarkdownCode
from workbench.toolcalls.formats._tags import MAX_TAG, NESTED_CLOSE, NESTED_OPEN, Tag, Tags
from workbench.toolcalls.formats._whole import ENDED, FAULTY, OPEN, UNDECIDED, Hold, WholeReader

MAX_RETURNS: Final = 100
"""Limit of returns of one parser to an earlier position: bounds the work on text made to be misread."""

GO_ON, SETTLED, END, BEFORE, BACK, SKIM = range(6)
"""Meaning of a tag inside a call.

GO_ON: the call continues. END: it ends with this tag. BEFORE: it ended before this tag, which is looked at anew.
SETTLED: it may end here, and does if anything but blanks and a tag follows; the tag that follows is asked again.
BACK: it ended at ``block.back``, and what follows that place is read anew.
SKIM: the call continues, and no tag of the grammar's ``quiet`` kinds can end it until another tag comes.
"""


@dataclass(slots=True)
class Block:
    """The text of a call from its opening tag, while it is read.

    Attributes:
        opener: the tag that opened it.
        tags: the tags inside it so far, the one being asked about included.
        is_closed: a tag ended it (not the end of the text).
        state: the format's own.
        back: the place ``BACK`` means, and where the call ends if the text ends now; 0 for its end.
        is_quiet: since ``SKIM`` only tags of quiet kinds have come, which are not looked at yet.
    """

    opener: Tag
    is_nested: bool
    pieces: list[str]
    tags: list[Tag] = field(default_factory=list)
    is_closed: bool = False
    state: Any = None
    back: int = 0
    mark: int = 1
    settled: int = -1
    is_decided: bool = False
    is_quiet: bool = False

    @property
    def start(self) -> int:
        """Start of the block, in characters of the whole text."""
        return self.opener.start

    def text(self) -> str:
        """Text up to the current tag, or the whole text when it is read.

        It is joined on each call: called at every tag, it would take quadratic time.
        """
        return "".join(self.pieces)

    def between(self) -> str:
        """Text between the previous tag and the current one."""
        return "".join(self.pieces[self.mark :])

    def since(self, place: int) -> str:
        """Text from a position (in characters of the whole text) on. Joins all of it, as ``text`` does."""
        return self.text()[place - self.opener.start :]


class Grammar(Protocol):
    """Definition of a format for ``TagParser``."""

    @property
    def tags(self) -> Tags:
        """Every tag of the format."""
        ...

    @property
    def opens(self) -> frozenset[str]:
        """Kinds of the tags that begin a call."""
        ...

    @property
    def loud(self) -> re.Pattern[str] | None:
        """Finds the tags that are of no quiet kind; None if the format never says ``SKIM``."""
        ...

    @property
    def is_half_text(self) -> bool:
        """The beginning of a tag at the end of the text is text of the call, and not half a tag."""
        ...

    @property
    def whole(self) -> WholeReader | None:
        """Reads blocks without a fault at once; None if every tag is to be seen by ``step``."""
        ...

    def skim(self, block: Block, text: str, start: int) -> bool:
        """Take all tags of a text after ``SKIM`` at once; False, and nothing is taken, if ``step`` has to see them.

        Args:
            start: place of the text in the whole.
        """
        ...

    def accepts(self, opener: Tag, head: str) -> bool | None:
        """True if the text after an opener can be a call; None while undecided (decide within 300 characters)."""
        ...

    def step(self, block: Block, tag: Tag) -> int:
        """Meaning of a tag inside a call: GO_ON, SETTLED, END, BEFORE or BACK."""
        ...

    def read(self, block: Block, tools: Sequence[ToolDef]) -> list[TextCall]:
        """Content of a call's text, in order; empty if it is not a call. Text it does not cover is prose."""
        ...


class PlainGrammar:
    """Base of the formats that look at every tag."""

    loud: ClassVar[re.Pattern[str] | None] = None
    is_half_text: ClassVar[bool] = False
    whole: WholeReader | None = None

    def skim(self, block: Block, text: str, start: int) -> bool:
        """Leave every tag to ``step``."""
        return False


class TagParser:
    """Reads one text by a grammar, piece by piece (``workbench.toolcalls.formats.TextParser``).

    Args:
        grammar: the format.
        tools: what was declared.
        closes: kinds of the tags that end a message which is no call, where a format has such: Markdown code that the
            message left open ends with it.
    """

    def __init__(self, grammar: Grammar, tools: Sequence[ToolDef] = (), closes: frozenset[str] = frozenset()) -> None:
        self._grammar = grammar
        self._closes = closes
        self._is_message = False
        self._tags = grammar.tags
        self._tools = tools
        self._fresh: list[str] = []  # arrived, not looked at
        self._window = ""  # looked at from _at on; stands at _base in the whole text
        self._base = 0
        self._at = 0
        self._awaited = ""  # a piece without it changes nothing
        self._is_passing = False  # in a call, for the end of a tag of ``_search``
        self._search = self._tags.pattern.search
        self._is_waiting = False  # in a call, for the beginning of a tag
        self._is_half = False  # all of the window may be the beginning of a tag, outside of calls or at an edge of one
        self._block: Block | None = None
        self._whole = grammar.whole
        self._hold: Hold | None = None  # of the block that begins at _at, which may be without a fault
        self._faulty = -1  # start of the last block that is not read at once
        self._code = MarkdownCode()
        self._is_nested = False
        self._returns = 0
        self._out: list[ProseOrCall] = []

    @property
    def tags(self) -> Tags:
        """Every tag of the format."""
        return self._tags

    def feed(self, text: str) -> list[ProseOrCall]:
        """Findings that are certain now."""
        self._fresh.append(text)
        if self._awaited not in text:
            return []
        if self._hold:
            if not self._hold.take(self._fresh):
                return self._work(final=False)
            self._awaited = self._hold.awaited
            return []
        if self._is_passing and self._passes():
            return []
        if self._is_waiting:
            if self._only_begins(text) if self._awaited else self._tags.find_beginning(text) < 0:
                return []
        elif self._is_half and self._tags.last not in text and self._tags.is_beginning((self._window + text).lstrip()):
            self._window += self._fresh.pop()
            return []
        return self._work(final=False)

    def _passes(self) -> bool:
        """Take what came into the call, up to the beginning of a tag; False if it holds a tag to be looked at."""
        assert self._block
        text, tags = self._window + "".join(self._fresh), self._tags
        if self._search(text):
            self._window, self._fresh[:] = "", (text,)
            return False
        begin = text.rfind(tags.first)
        stop = begin if begin > text.rfind(tags.last) else len(text)
        self._block.pieces.append(text[:stop])
        self._base += stop
        self._window = text[stop:]
        self._fresh.clear()
        return True

    def _only_begins(self, text: str) -> bool:
        """True if this piece of a call can start a tag but not end one: the end is awaited."""
        last = self._tags.last
        if not last or text.rfind(last) > text.find(self._awaited):
            return False
        self._awaited, self._is_waiting = last, False
        return True

    def close(self) -> list[ProseOrCall]:
        """The remaining findings."""
        return self._work(final=True)

    def _work(self, *, final: bool) -> list[ProseOrCall]:
        fresh = "".join(self._fresh)
        self._fresh.clear()
        self._window += fresh
        self._out = []
        while self._prose(final) if self._block is None else self._inside(self._block, final):
            pass
        if self._at:
            self._base += self._at
            self._window = self._window[self._at :]
            self._at = 0
        self._await_more()
        return self._out

    def _await_more(self) -> None:
        """Set which pieces matter from here on."""
        block, tags = self._block, self._tags
        self._awaited, self._is_waiting, self._is_half, self._is_passing = "", False, False, False
        if self._hold:
            self._awaited = self._hold.awaited
        elif block is not None and block.is_decided and block.settled < 0:
            if tags.is_simple:
                self._awaited, self._is_passing, self._search = tags.last, True, self._searcher(block)
            elif self._window or not tags.first:
                self._awaited = tags.last
                self._is_waiting = not tags.last and not self._window
            else:
                self._awaited, self._is_waiting = tags.first, True
        else:
            self._is_half = bool(self._window and tags.last)

    def _prose(self, final: bool) -> bool:
        """Process text outside of calls; False when all is processed."""
        window, at, base = self._window, self._at, self._base
        found = self._tags.pattern.search(window, at)
        if found is None:
            stop = len(window) if final else self._tags.find_partial(window, at)
            self._emit_prose(at, stop)
            self._at = stop
            return False
        kind = self._tags.kind(found)
        start, end = found.span()
        self._emit_prose(at, start)
        is_opener = kind in self._grammar.opens
        is_tag = (is_opener or kind in (NESTED_OPEN, NESTED_CLOSE)) and not self._code.is_quoted()
        if is_tag and self._whole and kind == self._whole.form.opens and base + start != self._faulty:
            return self._read_whole(self._whole, Tag(kind, base + start, base + end, found[0]), final)
        self._at = end
        if is_tag:
            if is_opener:
                opener = Tag(kind, base + start, base + end, found[0])
                self._block = Block(opener, self._is_nested, [found[0]])
                return True
            self._is_nested = kind == NESTED_OPEN
        self._emit_prose(start, end)
        if self._is_message and kind in self._closes:
            self._is_message = False
            self._code.reset()
        return True

    def _read_whole(self, whole: WholeReader, opener: Tag, final: bool) -> bool:
        """Read the block at an opener if it is whole and without a fault; False while this is not known."""
        start = self._at = opener.start - self._base
        hold = self._hold or Hold(whole.form)
        hold.found = hold.found or whole.read_block(self._window, start, self._base, is_nested=self._is_nested)
        if hold.found:
            calls, size = hold.found
            end = start + size
            state = whole.form.state_after(self._window, end, is_last=final)
            if state == ENDED:
                self._hold, self._at, self._is_message = None, end, False
                self._out += calls
                self._code.reset()
                return True
        else:
            end = opener.end - self._base
            verdict = False if final else self._grammar.accepts(opener, self._window[end : end + MAX_TAG])
            state = UNDECIDED if verdict is None else OPEN if verdict else FAULTY
        if state == FAULTY or not hold.renew(self._window, end, state):
            self._hold, self._faulty = None, opener.start
            return True
        self._hold = hold
        return False

    def _emit_prose(self, start: int, end: int) -> None:
        if start < end:
            text = self._window[start:end]
            self._code.pass_over(text)
            last = self._out[-1] if self._out else None
            if type(last) is Prose and last.end == self._base + start and len(last.text) < MAX_TAG:
                self._out[-1] = Prose(last.text + text, last.start, self._base + end)
            else:
                self._out.append(Prose(text, self._base + start, self._base + end))

    def _inside(self, block: Block, final: bool) -> bool:
        """Process text inside a call; False when all is processed."""
        if not block.is_decided:
            head = self._window[self._at : self._at + MAX_TAG]
            verdict = self._grammar.accepts(block.opener, head)
            if verdict is None and not final:
                return False
            block.is_decided = True
            if verdict is False:
                return self._refuse(block)
        while block.settled < 0:
            if self._at == len(self._window) and not final:
                return False
            found = self._searcher(block)(self._window, self._at)
            if block.is_quiet and (found or final):
                if not self._skim_quiet(block, found):
                    continue
                found = self._tags.pattern.match(self._window, self._at)
            if found is None:
                return self._to_the_end(block, final)
            if self._ask(block, found):
                return True
        return self._after_end(block, final)

    def _searcher(self, block: Block) -> Callable[..., re.Match[str] | None]:
        return self._grammar.loud.search if block.is_quiet and self._grammar.loud else self._tags.pattern.search

    def _skim_quiet(self, block: Block, found: re.Match[str] | None) -> bool:
        """Take the quiet tags before the one that was found; False if they are to be read one by one."""
        block.is_quiet = False
        stop = found.start() if found else self._at
        quiet = block.between() + self._window[self._at : stop]
        start = block.tags[-1].end
        del block.pieces[block.mark :]
        if found and self._grammar.skim(block, quiet, start):
            block.pieces.append(quiet)
            block.mark = len(block.pieces)
            self._at = stop
            return True
        self._window = quiet + self._window[stop:]
        self._base, self._at = start, 0
        return False

    def _to_the_end(self, block: Block, final: bool) -> bool:
        """Without another tag: all text belongs to the call, except for a possible start of a tag."""
        window, at = self._window, self._at
        is_text = final and self._grammar.is_half_text
        stop = len(window) if is_text else self._tags.find_partial(window, at)
        if at < stop:
            block.pieces.append(window[at:stop])
        self._at = stop
        if final:
            end = self._end_of_text(block, self._base + stop)
            self._finish(block, end, len(window) - stop if end == self._base + stop else 0)
        return final

    def _end_of_text(self, block: Block, end: int) -> int:
        self._returns += 1
        return block.back if block.back and self._returns <= MAX_RETURNS else end

    def _refuse(self, block: Block) -> bool:
        """Treat the opener as prose."""
        self._block = None
        self._code.pass_over(block.opener.text)
        self._out.append(Prose(block.opener.text, block.opener.start, block.opener.end))
        return True

    def _after_end(self, block: Block, final: bool) -> bool:
        """Continue after a possible end: only blanks and a tag can belong to the call."""
        window, at = self._window, self._at
        size = len(window)
        stop = size - len(window[at:].lstrip())
        is_tag = stop < size and self._tags.find_beginning(window[stop]) == 0
        found = self._tags.pattern.match(window, stop) if is_tag else None
        if found:
            self._ask(block, found)
            return True
        if at < stop:
            block.pieces.append(window[at:stop])
        self._at = stop
        is_half = stop == size or (is_tag and self._tags.find_partial(window, stop) == stop)
        if is_half and not final:
            return False
        block.is_closed = True
        half = size - stop if is_half else 0
        self._finish(block, self._base + stop if half else block.settled, half)
        return True

    def _ask(self, block: Block, found: re.Match[str]) -> bool:
        """Ask the grammar about a tag; True if the call ends with or before it."""
        start, end = found.span()
        base, text = self._base, found[0]
        tag = Tag(self._tags.kind(found), base + start, base + end, text)
        if self._at < start:
            block.pieces.append(self._window[self._at : start])
        block.tags.append(tag)
        verdict = self._grammar.step(block, tag)
        if verdict == BACK:
            self._returns += 1
            verdict = BEFORE if self._returns > MAX_RETURNS else BACK
        if verdict == BEFORE:
            block.tags.pop()
            self._at = start
            was_settled = block.settled >= 0
            block.is_closed = was_settled
            self._finish(block, block.settled if was_settled else tag.start)
            return True
        block.pieces.append(text)
        block.mark = len(block.pieces)
        self._at = end
        if verdict == GO_ON:
            block.settled = -1
            return False
        block.settled = tag.end if verdict == SETTLED else -1
        block.is_quiet = verdict == SKIM
        if verdict in (END, BACK):
            block.is_closed = True
            self._finish(block, tag.end if verdict == END else block.back)
            return True
        return False

    def _finish(self, block: Block, end: int, half: int = 0) -> None:
        """Report the call, and continue after it. ``half``: characters of a tag that was cut off."""
        whole = block.text()
        block.pieces = [whole]
        size = end - block.start
        if size < len(whole):
            self._window = whole[size:] + self._window[self._at :]
            self._base, self._at = end, 0
            whole = whole[:size]
            block.pieces = [whole]
            while block.tags and block.tags[-1].end > end:
                block.tags.pop()
        self._block = None
        place = block.start
        calls = self._grammar.read(block, self._tools)
        self._is_message = bool(self._closes) and not calls
        if half and calls and not whole[calls[-1].end - block.start :].strip():
            self._at += half
            calls[-1] = replace(calls[-1], end=end + half)
            end += half
        for call in calls:
            self._gap(whole, block.start, place, call.start)
            self._out.append(call)
            self._code.reset()
            place = call.end
        self._gap(whole, block.start, place, end)

    def _gap(self, whole: str, base: int, start: int, end: int) -> None:
        if start < end:
            text = whole[start - base : end - base]
            self._code.pass_over(text)
            self._out.append(Prose(text, start, end))
