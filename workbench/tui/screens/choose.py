"""Dialogs that open or import a file."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from workbench.errors import WorkbenchError
from workbench.library import ImportSummary, paths
from workbench.tui.screens.form import Field, FormOffer, FormScreen, FormSuggestion
from workbench.views import count, progress_bar

MOST_DAMAGE = 4


def offer_paths(text: str) -> FormOffer:
    """Completions of a path."""
    found = paths.complete(text)
    suggestions = [
        FormSuggestion(
            entry.name + "/" * entry.is_folder, found.folder + entry.name + "/" * entry.is_folder, not entry.is_folder
        )
        for entry in found.entries
    ]
    return FormOffer(suggestions, found.common() if suggestions else "", found.why_not)


def offer_new(text: str) -> FormOffer:
    """Completions of the path of a file that need not exist."""
    return offer_paths(text)._replace(why_not="")


class OpenScreen(FormScreen[Path]):
    """Asks which file to open. Answers with the path of a readable file."""

    def __init__(self, typed: str = "") -> None:
        super().__init__()
        self.fields = [Field("path", "Open a file", "path of the file", typed)]

    def offer(self, field: str, text: str) -> FormOffer:
        return offer_paths(text)

    def submit(self, field: str, text: str) -> None:
        path = paths.expand(text)
        why_not = "type a path, or choose a file with ↓" if not text.strip() else paths.why_not(path)
        if why_not:
            self.say(why_not)
        else:
            self.dismiss(path)


class ImportCancellation(Exception):
    """The person cancelled the import."""


class ImportProgress(Message):
    """Reports how many exchanges have been read, and how many there are."""

    def __init__(self, done: int, total: int) -> None:
        super().__init__()
        bar = progress_bar(done, total)
        self.words = f"{bar} {done:,} of {count(total, 'exchange')} written"

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, ImportProgress)


class ImportEnd(Message):
    """End of the import: a summary, or the error."""

    def __init__(self, import_summary: ImportSummary | None, error: Exception | None = None) -> None:
        super().__init__()
        self.done = import_summary
        self.error = error


class ImportScreen(FormScreen[Path]):
    """Imports a file into a session file. Answers with its path if the person opens it."""

    BINDINGS: ClassVar = [("enter", "open", "open")]  # once the fields are done with

    def __init__(self) -> None:
        super().__init__()
        self.fields = [
            Field("file", "Import", "any readable recording"),
            Field("out", "Session file", "secrets are replaced · .jsonl for the text format"),
        ]
        self._done: ImportSummary | None = None
        self._may_replace = ""

    def offer(self, field: str, text: str) -> FormOffer:
        return offer_paths(text) if field == "file" else offer_new(text)

    def submit(self, field: str, text: str) -> None:
        source, out = paths.expand(self.value("file") if field == "out" else text), paths.expand(self.value("out"))
        why_not = paths.why_not(source) if self.value("file").strip() else "type the path of a file to import"
        if why_not:
            self.say(why_not)
            self.go("file")
        elif field == "file" or not self.value("out").strip():
            from workbench.library import session_import

            self.put("out", self.value("out") or str(session_import.free_name(source)))
            self.go("out")
        else:
            self._try(source, out)

    def _try(self, source: Path, out: Path) -> None:
        from workbench.library import session_import

        try:
            session_import.check_output(out, source, may_replace=True)
        except WorkbenchError as error:
            self.say(str(error))
            return
        if out.exists() and self._may_replace != str(out):
            self._may_replace = str(out)
            self.say(f"{out} exists · enter again: replace it · or type another name")
            return
        for field in self.fields:
            self.query_one(f"#{field.id}").disabled = True
        self.set_focus(None)
        self.say("reading … · esc cancel", "")
        self._import(source, out)

    @work(thread=True, group="import", exit_on_error=False)
    def _import(self, source: Path, out: Path) -> None:
        from workbench.formats.importers import open_input
        from workbench.library import session_import

        worker = get_current_worker()
        try:
            session = open_input(str(source))

            def step(done: int) -> None:
                if worker.is_cancelled:
                    raise ImportCancellation
                self.post_message(ImportProgress(done, len(session)))

            try:
                self.post_message(ImportEnd(session_import.save(session, out, step)))
            finally:
                session.close()
        except (WorkbenchError, OSError, ImportCancellation) as error:
            self.post_message(ImportEnd(None, error))

    def on_import_progress(self, message: ImportProgress) -> None:
        if self._done is None:
            self.say(f"{message.words} · esc cancel", "")

    def on_import_end(self, message: ImportEnd) -> None:
        self._done = message.done
        if message.done is None:
            self._again(message.error)
            return
        damage = message.done.damage
        more = [f"and {len(damage) - MOST_DAMAGE} more"] if len(damage) > MOST_DAMAGE else []
        lines = [message.done.summary(), *(f"damaged: {text}" for text in damage[:MOST_DAMAGE]), *more]
        self.say("\n".join((*lines, "enter open · esc back")), "warning" if damage else "ok")

    def _again(self, error: Exception | None) -> None:
        for field in self.fields:
            self.query_one(f"#{field.id}").disabled = False
        self.go("file")
        self.say(str(error) if isinstance(error, WorkbenchError | OSError) else "cancelled; nothing was written")

    def action_open(self) -> None:
        if self._done:
            self.dismiss(self._done.path)

    def action_cancel(self) -> None:
        """Cancel the import if it runs, else close the dialog."""
        running = [
            worker
            for worker in self.workers
            if worker.node is self and worker.group == "import" and not worker.is_finished
        ]
        for worker in running:
            worker.cancel()
        if not running:
            self.dismiss(None)
