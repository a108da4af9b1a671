"""Inspection outside of the screen's thread: one thread owns the inspector, inspects the session, opens exchanges."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.lazy_dataclass import replace
from workbench.tui.early_rows import AHEAD, KeptRows, ProvisionalPass, first_to_open
from workbench.tui.inspection_requests import InspectionRequests, ShownBranches
from workbench.wire.session import beginning

if TYPE_CHECKING:
    from pathlib import Path

    from textual.screen import Screen

    from workbench.rules import Detail, InspectedExchange, Inspector
    from workbench.tui.exchange_view import ExchangeView
    from workbench.wire import Exchange
    from workbench.wire.session import Session

BATCH_SECONDS = 0.25
"""Interval at which rows are posted; a shorter one would repaint without need, and delay keys."""

PAINTED = 100
"""Exchanges listed at once: more than a screen has room for."""

LOOK_SECONDS = 0.1
"""Least interval between two checks of the session: growth is painted at most ten times a second."""

REST = 4
"""Pause after an update, as a multiple of its CPU time: slow bodies then take a fifth of one core."""

REST_SECONDS = 2.0
"""Longest pause: the shown part of a growing body is never older."""


class SessionList(Message):
    """The session is open; its list is read, or the part of it that is painted first."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.name = session.name
        self.summaries = beginning(session, PAINTED)
        self.total = len(session)
        self.damage = tuple(session.damage)
        self.is_live = session.is_live
        self.about = session.about
        self.path: Path | None = getattr(session, "path", None)


class SessionChange(Message):
    """The session has changed: it has more exchanges, or more of some, or its recording has ended."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.summaries = session.summaries()
        self.total = len(self.summaries)
        self.is_live = session.is_live
        self.about = session.about

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, SessionChange)


class OpenFailure(Message):
    """The session cannot be opened."""

    def __init__(self, error: WorkbenchError | OSError) -> None:
        super().__init__()
        self.error = error


class InspectedRows(Message):
    """Exchanges were inspected. ``rows`` are all rows so far: earlier ones may have changed."""

    def __init__(self, rows: tuple[InspectedExchange, ...]) -> None:
        super().__init__()
        self.rows = rows

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, InspectedRows)


class OpeningExchange(Message):
    """An exchange is being opened that nobody has asked for."""

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index


class ProvisionalRows(Message):
    """Exchanges were inspected by themselves, before the pass over the session has reached them."""

    def __init__(self, rows: tuple[InspectedExchange, ...]) -> None:
        super().__init__()
        self.rows = rows

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ProvisionalRows)


class OpenedExchange(Message):
    """A requested exchange is decoded."""

    def __init__(self, exchange_view: ExchangeView) -> None:
        super().__init__()
        self.opened = exchange_view


class ExchangeUpdate(OpenedExchange):
    """More of the open exchange has arrived, or its findings have changed."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ExchangeUpdate)


NOT_ONE = -1
"""Index that marks trouble with a question, not with an exchange."""


class Trouble(Message):
    """An exchange could not be read. ``index`` is None if the inspection itself had to stop."""

    def __init__(self, text: str, index: int | None = None) -> None:
        super().__init__()
        self.text = text
        self.index = index


class JobAnswer(Message):
    """The answer to a question; ``deliver`` passes it to the screen that asked."""

    def __init__(self, deliver: Callable[[], None]) -> None:
        super().__init__()
        self.deliver = deliver


Post = Callable[[Message], object]
Job = Callable[["Inspector"], Message]
"""A question to the inspector; its answer is posted."""
Failed = Callable[[str], None]
"""Called on the screen's thread with the reason why a question was not answered."""
Opener = Callable[[], "Session"]
"""Opens a session; raises WorkbenchError or OSError if it cannot. The session is closed at the end."""


def guard(job: Job, failed: Failed) -> Job:
    """Wrap a job so that an exception in it is reported to ``failed``: the screen that asked must not wait forever."""

    def question(inspector: Inspector) -> Message:
        try:
            return job(inspector)
        except Exception as error:
            why = in_words(error)
            return JobAnswer(lambda: failed(why))

    return question


class InspectionThread:
    """Runs in a thread of its own; its other methods may be called from any thread.

    Only the exchange requested last is opened. Exchanges before it are inspected first, and their rows are posted; if
    they are many, the exchange is opened by itself, provisionally, and again when the pass has reached it.
    The session is looked at again and again: what has grown is handed over, and so is the opened exchange.

    Attributes:
        is_listed: the screen has read the beginning of the list itself.
    """

    def __init__(self, source: Session | Opener, provider: str | None, protocol: str | None) -> None:
        self._source = source
        self._provider, self._protocol = provider, protocol
        self._requests = InspectionRequests()
        self._branches = ShownBranches()
        self._at_end: list[Callable[[], object]] = []
        self._is_busy = self._is_ended = False
        self._is_broken = False
        self.is_listed = False
        self._open_index: int | None = None
        self._alone: Detail | None = None
        self._provisional = ProvisionalPass(())
        self._kept_rows: KeptRows | None = None
        self._is_outdated = False
        self._grown_at: float | None = None
        self._next_look = 0.0

    @property
    def is_paused(self) -> bool:
        """True if no more is inspected than is asked for."""
        return self._requests.is_paused

    def pause(self, is_paused: bool) -> None:
        """Pause the inspection (questions are still answered), or resume it."""
        self._requests.pause(is_paused)

    def note_key(self) -> None:
        """Let the screen go first: the pass pauses for a moment."""
        self._requests.note_key()

    def do(self, job: Job) -> None:
        """Queue a short question for the inspector's thread."""
        self._requests.add(job)

    def do_shown(self, job: Job) -> None:
        """Queue a question about the shown session, in which branches set by ``branch`` replace their exchanges."""
        self.do(lambda inspector: job(self._branches.over(inspector)))

    def branch(self, index: int, exchange_of: Callable[[], Exchange] | None) -> None:
        """Set the branch that replaces an exchange when it is opened and in ``do_shown``; None removes it."""
        self._branches.set(index, exchange_of)

    def at_end(self, do: Callable[[], object]) -> None:
        """Queue a call for the end of the thread, before the session is closed."""
        self._at_end.append(do)

    @property
    def is_idle(self) -> bool:
        """True if no question and no exchange is pending, or the thread has ended."""
        return self._is_ended or (not self._is_busy and self._requests.is_empty)

    def ask(self, index: int) -> None:
        """Open an exchange as soon as possible."""
        self._requests.open(index)

    def stop(self) -> None:
        """End the thread after the step it is in."""
        self._requests.stop()

    def run(self, post: Post) -> None:
        """Open the session, inspect all of it and answer questions until stopped."""
        try:
            self._run(post)
        finally:
            self._is_ended = True

    def _run(self, post: Post) -> None:
        if not callable(self._source):
            self._go_through(self._source, post)
            return
        try:
            session = self._source()
        except (WorkbenchError, OSError) as error:
            post(OpenFailure(error))
            return
        except Exception as error:
            post(OpenFailure(WorkbenchError(in_words(error))))
            return
        try:
            self._go_through(session, post)
        finally:
            session.close()

    def _go_through(self, session: Session, post: Post) -> None:
        try:
            self._serve(session, post)
        except Exception as error:
            post(Trouble(f"inspection stopped: {in_words(error)}"))
        finally:
            for do in self._at_end:
                do()

    def _serve(self, session: Session, post: Post) -> None:
        self._list(session, post)
        from workbench.rules import Inspector  # the list does not wait for the core

        inspector = Inspector(session, self._provider, self._protocol)
        kept_rows = self._kept_rows = KeptRows(session, self._provider, self._protocol)
        if rows := kept_rows.find(session):
            self._provisional = ProvisionalPass((), rows)
            post(ProvisionalRows(tuple(rows)))
        requests = self._requests
        while not requests.is_stopped:
            wanted, self._is_busy = requests.wanted, False
            is_done, known = self._is_broken or inspector.is_done, len(inspector.rows)
            if requests.jobs:
                self._is_busy = True
                self._answer(requests.jobs.popleft(), inspector, post)
            elif time.monotonic() >= self._next_look:
                self._look(inspector, post)
            elif wanted is not None and (is_done or wanted < known):
                self._is_busy = True
                self._open(inspector, wanted, post)
            elif wanted is not None and wanted >= known + AHEAD:
                self._is_busy = True
                self._open_alone(inspector, wanted, post)
            elif self._alone and (is_done or self._alone.row.index < known):
                self._open(inspector, self._alone.row.index, post, ExchangeUpdate)
            elif not is_done and self._provisional.is_next(known + AHEAD):
                self._inspect_alone(inspector, post)
            elif not is_done and (wanted is not None or not requests.is_paused):
                self._inspect(inspector, post)
            elif self._is_outdated and self._open_index is not None:
                self._open(inspector, self._open_index, post, ExchangeUpdate)
            else:
                self._wait()

    def _list(self, session: Session, post: Post) -> None:
        """Post the list of exchanges, its beginning first, and choose the exchange to open in a large session."""
        if not self.is_listed:
            post(SessionList(session))
        summaries = session.summaries()
        if len(summaries) > PAINTED:
            post(SessionChange(session))
        self._provisional = ProvisionalPass(summaries)
        first = first_to_open(summaries)
        if first is not None and self._requests.open_first(first):
            post(OpeningExchange(first))

    def _look(self, inspector: Inspector, post: Post) -> None:
        """Check if the session has changed."""
        now, session = time.monotonic(), inspector.session
        was_live, changed = session.is_live, inspector.refresh()
        self._next_look = now + LOOK_SECONDS
        if changed or session.is_live != was_live:
            self._grown_at = time.thread_time()
            self._is_outdated |= self._open_index in changed
            post(SessionChange(session))

    def _inspect(self, inspector: Inspector, post: Post) -> None:
        """Inspect a batch of exchanges."""
        requests = self._requests
        until = time.monotonic() + BATCH_SECONDS
        try:
            for row in inspector.steps():
                requests.wait_for_key()
                is_wanted = requests.wanted is not None and requests.wanted <= row.index
                if is_wanted or requests.is_paused or requests.is_stopped or time.monotonic() > until:
                    break
        except Exception as error:
            post(Trouble(f"inspection stopped at exchange {len(inspector.rows) + 1}: {in_words(error)}"))
            self._is_broken = True
        finally:
            post(InspectedRows(tuple(inspector.rows)))
        if self._kept_rows and inspector.is_done:
            self._kept_rows.keep(inspector)

    def _open(self, inspector: Inspector, index: int, post: Post, how: type[OpenedExchange] = OpenedExchange) -> None:
        from workbench.tui.exchange_view import ExchangeView

        self._open_index, self._is_outdated, self._alone = index, False, None
        try:
            message: Message = how(ExchangeView(self._branches.over(inspector).detail(index)))
        except Exception as error:
            message = _not_shown(index, error)
        if how is OpenedExchange:
            self._requests.note_opened(index)
        post(message)

    def _open_alone(self, inspector: Inspector, index: int, post: Post) -> None:
        """Open an exchange that the pass will reach much later."""
        from workbench.rules import decode_alone

        self._open_index, self._is_outdated, self._alone = index, False, None
        try:
            self._alone = decode_alone(inspector, index)
            self._post_alone(self._alone, post, OpenedExchange)
        except Exception as error:
            self._alone = None
            post(_not_shown(index, error))
        self._requests.note_opened(index)

    def _post_alone(self, detail: Detail, post: Post, how: type[OpenedExchange]) -> None:
        from workbench.tui.exchange_view import ExchangeView

        row = self._provisional.rows.get(detail.row.index, detail.row)
        post(how(ExchangeView(replace(detail, row=row), is_provisional=True)))

    def _inspect_alone(self, inspector: Inspector, post: Post) -> None:
        """Inspect an exchange that failed according to the list. The pass reports what is wrong with it otherwise."""
        index = self._provisional.next()
        try:
            self._provisional.inspect(inspector, index)
        except Exception:
            return
        post(ProvisionalRows(tuple(self._provisional.rows.values())))
        if self._alone and self._alone.row.index == index:
            self._post_alone(self._alone, post, ExchangeUpdate)

    def _answer(self, job: Job, inspector: Inspector, post: Post) -> None:
        try:
            message = job(inspector)
        except Exception as error:
            message = Trouble(in_words(error), NOT_ONE)
        post(message)

    def _wait(self) -> None:
        """Wait for a question, or until it is time to check the session again."""
        now = time.monotonic()
        if self._grown_at is not None:
            rest = REST * (time.thread_time() - self._grown_at)
            self._next_look = now + min(max(LOOK_SECONDS, rest), REST_SECONDS)
            self._grown_at = None
        self._requests.wait(self._next_look)


def _not_shown(index: int, error: Exception) -> Trouble:
    return Trouble(f"exchange {index + 1} cannot be shown: {in_words(error)}", index)


def in_words(error: Exception) -> str:
    """Text of an error: its message if it is one of ours, else its class name, because it is a fault of Workbench."""
    return str(error) if isinstance(error, WorkbenchError | OSError) else f"{type(error).__name__}: {error}"


def is_open(screen: Screen[Any]) -> bool:
    """True if a screen can still show a result: a closed screen stays attached for a while, without its widgets."""
    return screen.is_attached and screen in screen.app.screen_stack
