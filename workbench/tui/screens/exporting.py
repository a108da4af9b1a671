"""Export screen: the forms, a preview of each, and the files once they are written."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import getters, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message
from textual.screen import Screen

from workbench.errors import FaultyRequest, LocalProtocolError, UsageError, WorkbenchError
from workbench.lazy_dataclass import replace
from workbench.library import paths
from workbench.safetext import clip, visible
from workbench.tui import keys
from workbench.tui.action_forwarding import ActionOf
from workbench.tui.bars import Bar, Headline, KeyBar
from workbench.tui.list_search import search_of
from workbench.tui.models import exporting
from workbench.tui.models.exporting import ExportScope, FormRow
from workbench.tui.models.tabs import TOO_SMALL
from workbench.tui.screens.choose import offer_new
from workbench.tui.screens.export_progress import ExportCancellation, ExportProgress, step_of
from workbench.tui.screens.form import Field, FormOffer, FormScreen
from workbench.tui.screens.worklist import ListPane
from workbench.tui.service import JobAnswer, guard, in_words, is_open
from workbench.tui.widgets.lineview import LineView
from workbench.views import Line, Span, line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.edits.branches import BranchNode, Workspace
    from workbench.formats import ExportRequest
    from workbench.formats.exporters import ExportProof, ExportResult
    from workbench.rules import Inspector
    from workbench.tui.screens.session.screen import SessionScreen
    from workbench.wire.session import Session

CANCELLED = ("cancelled: nothing was written", "R switches redaction, a the scope; both create a new preview")
REPAIR_FIRST = (
    "a test needs a correct request: apply a repair (f), or go back and edit the request; then export the result"
)


def begin(session: SessionScreen, node: BranchNode) -> None:
    """Export the request of a node."""
    session.app.push_screen(ExportScreen(session, node))


class ProofReady(Message):
    """Result of running the exported test."""

    def __init__(self, proof: ExportProof | None, why: str = "") -> None:
        super().__init__()
        self.proof, self.why = proof, why


class ExportPathScreen(FormScreen[Path]):
    """Asks for the path to write to. An earlier export is replaced only if the person confirms it with a second enter.

    Args:
        row: form of the export.
        name: suggested name.
    """

    def __init__(self, row: FormRow, name: str) -> None:
        super().__init__()
        self.row = row
        what = "a folder" if not row.suffix else "a file"
        self.fields = [Field("path", f"Write the {row.title} to {what}", "the path of a new file", name)]
        self._may_replace = ""

    def offer(self, field: str, text: str) -> FormOffer:
        return offer_new(text)

    def submit(self, field: str, text: str) -> None:
        from workbench.formats import exporters
        from workbench.formats import exporting as _work

        if not text.strip():
            self.say("type a name")
            return
        path = paths.expand(text)
        try:
            _work.refuse(path, exporters.load(self.row.name), (), is_forced=self._may_replace == str(path))
        except (UsageError, OSError, ValueError) as error:
            may = isinstance(error, UsageError) and self._is_own(path)
            self._may_replace = str(path) if may else ""
            what = error.what if isinstance(error, UsageError) else str(error)
            self.say(f"{what} · enter again: replace it · or type another name" if may else what)
        else:
            self.dismiss(path)

    def _is_own(self, path: Path) -> bool:
        """An export wrote the path before, or it is a file."""
        from workbench.formats import exporters

        if self.row.suffix:
            return path.is_file()
        return path.is_dir() and bool(getattr(exporters.load(self.row.name), "leftovers", lambda _: ())(path))


class FormsPane(ListPane):
    """The forms; the one that needs a repaired request is marked.

    Args:
        rows: the forms.
    """

    def __init__(self, rows: Sequence[FormRow], *, id: str) -> None:
        super().__init__(id=id)
        self._rows, self._refused = rows, -1
        self._count = len(rows)

    def head(self, item: int, width: int) -> Line:
        return exporting.form_line(self._rows[item], is_refused=item == self._refused)

    def refuse(self) -> bool:
        """Mark the form under the cursor. Returns True if it was the first, and another is under the cursor now."""
        is_first = self._refused < 0 and self.cursor == 0
        self._refused = self.cursor
        if is_first:
            self.move_to(next(n for n, row in enumerate(self._rows) if row.name == "curl"))
        self.reload()
        return is_first


class ExportScreen(Screen[None]):
    """Lists the forms and previews the one under the cursor.

    Args:
        session: session of the exchange.
        node: node of the request to export.
    """

    CSS_PATH = "exporting.tcss"
    KEYS: ClassVar[tuple[keys.Key, ...]] = keys.EXPORT
    BINDINGS = keys.bindings(keys.EXPORT)

    forms = getters.query_one("#forms", FormsPane)
    result = getters.query_one("#result", ListPane)

    def __init__(self, session: SessionScreen, node: BranchNode) -> None:
        super().__init__()
        self.search = search_of(self)
        self.session, self.node = session, node
        self.rows = exporting.forms()
        self.scope, self.is_redacted = ExportScope.ONE, False
        self.exported: ExportResult | None = None
        self.asked = 0
        self._paths: tuple[Path, ...] = ()
        self._proof: ExportProof | None = None
        self._is_trying = False
        self._trouble: tuple[str, str] = ("", "")
        self._lines: list[Line] = []
        self._progress = ""
        self.branch: tuple[Session, tuple[BranchNode, ...]] | None = None

    def compose(self) -> ComposeResult:
        yield Headline()
        with Container(id="export"):
            yield FormsPane(self.rows, id="forms")
            yield ListPane(id="result")
        yield KeyBar(id="keys")
        yield Bar(id="too-small")

    def on_mount(self) -> None:
        self.query_one("#too-small", Bar).show(TOO_SMALL)
        self.query_one("#keys", KeyBar).show_keys([keys.OPEN_FORM, *keys.EXPORT])
        self.forms.title(line(" Forms "))
        self.forms.focus()
        self.session.branches.ask(partial(_branch_of, self.node), self._know, self._fail)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)  # the panes have their new sizes then

    @property
    def row(self) -> FormRow:
        """Form under the cursor."""
        return self.rows[self.forms.cursor]

    # Preview.

    def _know(self, branch: tuple[Session, tuple[BranchNode, ...]]) -> None:
        if is_open(self):
            self.branch = branch
            self._look()

    def _look(self) -> None:
        """Make the form in the inspector's thread; the result of an earlier request is dropped."""
        self.asked += 1
        number, self.exported, self._paths, self._proof, self._trouble = self.asked, None, (), None, ("", "")
        self._progress = ""
        if self.branch is None:
            return
        if self._is_large():
            self._show()
            return
        name, out = self.row.name, self._default_name()

        def job(inspector: Inspector) -> JobAnswer:
            exported = _export(self, inspector, name, out, number)
            return JobAnswer(lambda: self._take_result(number, exported))

        self._show()
        self.session.inspecting.do(guard(job, lambda why: self._fail(why, number)))

    def _is_large(self) -> bool:
        summaries = (row.summary for row in self.session.state.rows)
        total = sum(s.request_bytes + s.response_bytes for s in summaries) if self.scope is ExportScope.ALL else 0
        return total > exporting.MOST_BYTES

    def on_export_progress(self, message: ExportProgress) -> None:
        if message.number == self.asked:
            self._progress = message.words
            self._show()

    def _take_result(self, number: int, exported: ExportResult | tuple[str, str]) -> None:
        if not is_open(self) or number != self.asked:
            return
        self._progress = ""
        if isinstance(exported, tuple):
            self._trouble = exported
            if exported[1] == REPAIR_FIRST and self.forms.refuse():
                self._look()
        else:
            self.exported = exported
        self._show()

    def _fail(self, why: str, number: int | None = None) -> None:
        if is_open(self) and number in (None, self.asked):
            self._trouble = (why, "")
            self._show()

    # What is shown.

    def _show(self) -> None:
        if not self.is_mounted:
            return
        width, lines = self.result.text_width, list[Line]()
        if self._trouble[0]:
            lines = exporting.trouble_lines(*self._trouble, width)
        elif self._paths:
            lines = exporting.written_lines(self._paths, self._proof, self._is_trying, width)
        if self.exported and not self._trouble[0]:
            lines = [*lines, *exporting.made_lines(self.exported, width)]
        is_too_large = self._is_large() and self.exported is None
        why = "no preview: the session is large" if is_too_large else f"making a preview … {self._progress}"
        self._lines = lines
        self.result.show(len(lines), lambda item: self._lines[item], why)
        self.set_class(bool(self._paths), "-written")
        name = "" if self._paths or self._trouble[0] else f" · {self._default_name()}"
        self.result.title(line(f" {'Written' if self._paths else 'Preview'} · {self.row.title}{name} "))
        self._entitle()

    def _entitle(self) -> None:
        node, total = self.node, len(self.session.state.rows)
        edited = f" · {clip(node.name or node.title, 36)}" if node.parent else ""
        exchanges = total if self.scope is ExportScope.ALL else len(self.branch[1]) if self.branch else 1
        summary = exporting.summary(
            self.scope, exchanges, is_edited=node.parent is not None, is_redacted=self.is_redacted
        )
        title = line(Span(f" Export request {node.index + 1}{edited}", "strong"))
        progress = Span(f"   {self._progress}" if self._progress else "", "accent")
        self.query_one("#headline", Bar).show([title, (Span(" "), *summary, progress)])
        self.query_one("#keys", KeyBar).run(bool(self._progress))

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        if message.view is self.forms:
            self._look()

    def on_line_view_activation(self, message: LineView.Activation) -> None:
        if message.view is self.forms:
            self.action_write()

    # Keys.

    def action_pane(self) -> None:
        """Go to the other pane."""
        (self.result if self.forms.has_focus else self.forms).focus()

    def action_scope(self) -> None:
        """Choose the next scope: this exchange, its branch if there is one, the whole session."""
        has_branch = self.branch is not None and len(self.branch[1]) > 1
        scopes = [scope for scope in ExportScope if scope is not ExportScope.BRANCH or has_branch]
        self.scope = scopes[(scopes.index(self.scope) + 1) % len(scopes)]
        self._look()

    def action_redact(self) -> None:
        """Switch stand-ins for private text on or off."""
        self.is_redacted = not self.is_redacted
        self._look()

    def action_write(self) -> None:
        """Ask for a path, and write the export."""
        if self._is_trying:
            self.notify("the last exported test is still running", markup=False)
        elif self._trouble[0]:
            self.notify(visible(f"nothing to write: {self._trouble[0]}"), severity="warning", markup=False)
        elif self.exported or self._is_large():
            self.app.push_screen(ExportPathScreen(self.row, self._default_name()), self._write)

    def action_repairs(self) -> None:
        """Go back to the session, and show the repairs of the finding."""
        self.dismiss()
        self.session.call_later(self.session.actions.repairs)

    def _default_name(self) -> str:
        return exporting.default_name(self.row, self.scope, self.node.index, self.session.state.name)

    def _write(self, out: Path | None) -> None:
        if out is None:
            return
        name, number = self.row.name, self.asked

        def job(inspector: Inspector) -> JobAnswer:
            from workbench.formats import exporters
            from workbench.formats import exporting as _work

            exported = _export(self, inspector, name, out.name, number)
            if isinstance(exported, tuple):
                return JobAnswer(lambda: self._take_result(number, exported))
            source = getattr(inspector.session, "path", None)
            export = _work.write_export(exported, exporters.load(name), out, (source,) if source else ())
            return JobAnswer(lambda: self._finish_writing(number, name, out, exported, export))

        self.session.inspecting.do(guard(job, lambda why: self._fail(f"not written: {why}", number)))

    def _finish_writing(
        self, number: int, name: str, out: Path, exported: ExportResult, paths: tuple[Path, ...]
    ) -> None:
        from workbench.formats import exporters

        if not is_open(self):
            return
        if number != self.asked:
            self.notify(visible(f"written: {out}"), markup=False)
            return
        self.exported, self._paths, self._progress = exported, paths, ""
        if hasattr(exporters.load(name), "prove"):
            self._is_trying = True
            self._try(name, out)
        self._show()
        self.result.move_to(0)

    @work(thread=True, group="prove", exit_on_error=False)
    def _try(self, name: str, out: Path) -> None:
        from workbench.formats import exporters
        from workbench.formats import exporting as _work

        try:
            self.post_message(ProofReady(_work.prove(exporters.load(name), out)))
        except (WorkbenchError, OSError) as error:
            self.post_message(ProofReady(None, in_words(error)))

    def on_proof_ready(self, message: ProofReady) -> None:
        self._is_trying = False
        if self._paths:
            self._proof = message.proof
        if message.why:
            self.notify(visible(f"the test was not run: {message.why}"), severity="error", markup=False)
        self._show()

    action_search = ActionOf("search", "ask")
    action_match = ActionOf("search")

    def action_leave(self) -> None:
        """Cancel what is being made, end the search, or go back."""
        if self._progress:
            self.asked += 1
            self._progress, self._trouble = "", CANCELLED
            self._show()
        else:
            self.search.leave()

    def action_back(self) -> None:
        self.dismiss(None)


def _branch_of(node: BranchNode, workspace: Workspace) -> tuple[Session, tuple[BranchNode, ...]]:
    """Session of the conversation up to a node, and the nodes from the recorded request to it."""
    return workspace.as_branch_session(node), tuple(workspace.path(node))


def _export(
    screen: ExportScreen, inspector: Inspector, name: str, out: str, number: int
) -> ExportResult | tuple[str, str]:
    """Content of the export; or a reason against it and a hint. Called in the inspector's thread."""
    from workbench.formats import exporters

    try:
        assert screen.branch
        wanted = _request(inspector, screen.scope, screen.branch)
        wanted = replace(wanted, is_redacted=screen.is_redacted, name=out, step=step_of(screen, number))
        return wanted.export(exporters.load(name))
    except ExportCancellation:
        return CANCELLED
    except LocalProtocolError as error:
        return error.what, REPAIR_FIRST if isinstance(error, FaultyRequest) else error.hint or ""


def _request(inspector: Inspector, scope: ExportScope, branch: tuple[Session, tuple[BranchNode, ...]]) -> ExportRequest:
    """Export of what a scope comprises. Called in the inspector's thread.

    Args:
        branch: as from ``_branch_of``.
    """
    from workbench.formats import ExportRequest
    from workbench.wire.session import MemorySession

    session, way = branch
    provider, protocol = inspector.provider, inspector.protocol
    if scope is ExportScope.ALL:
        return ExportRequest(inspector.session, tuple(range(len(inspector.session))), None, provider, protocol)
    if scope is ExportScope.BRANCH:
        one = MemorySession(inspector.session.name, tuple(node.exchange for node in way))
        return ExportRequest(one, tuple(range(len(one))), None, provider, protocol)
    made_of = tuple(node.exchange for node in way[-2::-1])
    return ExportRequest(session, (len(session) - 1,), None, provider, protocol, made_of=made_of)
