"""Dialog of one or more input lines with completions below."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from textual import events, getters, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from workbench.safetext import SHOWABLE, cells, clip, is_showable
from workbench.tui.bars import Bar, Ways
from workbench.tui.models.tabs import ROOMY
from workbench.tui.widgets.lineview import LineView, rows_within
from workbench.views import Line, Span, line, plain, wrap

Result = TypeVar("Result")

MOST_NAME = 26
"""Columns for the names of suggestions."""

MOST_HEIGHT, MOST_ROWS = 90, 20
"""Percent of the window's height that a dialog takes, and rows of its suggestions, at most; as in the style sheet."""

TAB_WORDS = ("complete", "complete, or next field")
"""What tab does in a dialog of one line, and of several."""


def ways(has_several: bool) -> tuple[tuple[str, str], ...]:
    """Keys of a dialog; ``has_several``: more than one line is shown."""
    return (("enter", "accept"), ("↓", "choose"), ("tab", TAB_WORDS[has_several]), ("esc", "cancel"))


class Field(NamedTuple):
    """Input line of a dialog; ``is_folded`` ones are shown on demand.

    Attributes:
        title: what the line is for, shown above it.
        hint: what it does, shown beside the title; empty for none.
        value: its text at first.
        example: what can be typed, shown in the line while it is empty.
    """

    id: str
    title: str
    hint: str
    value: str = ""
    is_folded: bool = False
    example: str = ""


class FormSuggestion(NamedTuple):
    """Completion: ``text`` replaces the whole line; ``is_final`` if nothing can follow.

    ``facts`` are shown in a column beside ``shown``, directly after it where the dialog is narrow.
    """

    shown: str | Line
    text: str
    is_final: bool = True
    facts: str = ""


class FormOffer(NamedTuple):
    """Suggestions for a text.

    Attributes:
        common: longest common prefix of the suggestions.
        why_not: reason that there are none.
        default: text that enter accepts until the cursor moves to a suggestion; empty for none.
    """

    suggestions: Sequence[FormSuggestion]
    common: str = ""
    why_not: str = ""
    default: str = ""


class SuggestionPane(LineView, can_focus=False):
    """Suggestions; the cursor is hidden until the person moves to one.

    It is as high as the most suggestions so far: the dialog has no empty rows, and does not shrink while one types.
    Where the window has more rows than that, suggestions that are too long take several; in a narrow one always.
    """

    def __init__(self) -> None:
        super().__init__()
        self.offer = FormOffer(())
        self.is_walked = False
        self._rows = 1
        self._column = 0

    def show(self, offer: FormOffer) -> None:
        """Show other suggestions."""
        self.offer, self.is_walked, self.cursor = offer, False, 0
        named = [each.shown for each in offer.suggestions if each.facts and isinstance(each.shown, str)]
        self._column = min(MOST_NAME, max((cells(name) for name in named), default=0)) + 2
        self._rows = max(self._rows, self.count() or 3 * bool(offer.why_not))
        self._fit()
        self.reload()
        self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def _fit(self) -> None:
        """Take a row for each suggestion, and more for long ones if the dialog may have them."""
        form = self.parent
        assert isinstance(form, Widget)
        other_rows = sum(part.size.height for part in form.children if part is not self) + form.gutter.height
        self.flows = self.text_width < ROOMY
        spare = min(MOST_HEIGHT * self.screen.size.height // 100 - other_rows, MOST_ROWS) - self.count()
        whole = rows_within(self, self.text_width, self.count(), spare) if spare > 0 else 0
        self.styles.height = max(self._rows, whole)

    def on_resize(self, event: events.Resize) -> None:
        self._fit()
        super().on_resize(event)

    def walk(self, step: int) -> None:
        """Move the cursor; the first move shows it."""
        self.move_to(self.cursor + step if self.is_walked else self.cursor)
        self.is_walked = bool(self.count())
        self.refresh()

    def choice(self) -> FormSuggestion | None:
        """Suggestion under the cursor; None while it is hidden."""
        return self.offer.suggestions[self.cursor] if self.is_walked and self.count() else None

    def count(self) -> int:
        return len(self.offer.suggestions)

    def head(self, item: int, width: int) -> Line:
        text, _, _, facts = self.offer.suggestions[item]
        if not isinstance(text, str):
            return text
        name = Span(text, "", max(self._column, cells(text) + 2)) if width >= ROOMY else Span(f"{text}  ")
        return line(name, Span(facts, "muted")) if facts else line(text)

    def nothing(self, width: int) -> list[Line]:
        return wrap(self.offer.why_not, width, "muted", most=3) if self.offer.why_not else []

    def signs(self, item: int, inside: int) -> Line:
        if inside:
            return line("  ")
        if self.is_walked:
            return line(Span(" ▸" if item == self.cursor else "  ", "accent"))
        is_default = self.offer.default and self.offer.suggestions[item].text == self.offer.default
        return line(Span(" ▹" if is_default else "  ", "accent"))

    def under(self, item: int) -> str:
        return "cursor" if self.is_walked and item == self.cursor else ""


class SuggestionsReady(Message):
    """Suggestions for a text."""

    def __init__(self, text: str, offer: FormOffer) -> None:
        super().__init__()
        self.text = text
        self.offer = offer


class FormScreen(ModalScreen[Result], Generic[Result]):
    """Dialog of input lines. Characters that cannot be shown cannot be typed or pasted; escape answers None."""

    CSS_PATH = "form.tcss"
    BINDINGS: ClassVar = [
        ("escape", "cancel", "cancel"),
        ("tab", "complete", "complete"),
        ("shift+tab", "field(-1)", "previous field"),
        ("down", "walk(1)", "next suggestion"),
        ("up", "walk(-1)", "previous suggestion"),
    ]
    fields: Sequence[Field] = ()
    pane = getters.query_one(SuggestionPane)

    def __init__(self) -> None:
        super().__init__()
        self._answered: str | None = None
        self._is_completing = False
        self.parts = FormParts(self)

    def compose(self) -> ComposeResult:
        with Vertical(id="form"):
            for field in self.fields:
                value = field.value if is_showable(field.value) else ""
                yield FieldTitle(field)
                yield FieldInput(field, value)
                yield Note(id=f"{field.id}-note")
            yield Bar(id="more")
            yield SuggestionPane()
        yield Ways(*ways(len(self.fields) > 1))

    # Supplied by each dialog.

    @abstractmethod
    def offer(self, field: str, text: str) -> FormOffer:
        """Suggestions for the text of a field. Called in a thread."""

    @abstractmethod
    def submit(self, field: str, text: str) -> None:
        """Handle enter in a field."""

    def explain(self, field: str, text: str) -> str:
        """What enter will do with the text of a field, or what the text means; empty if that is plain."""
        return ""

    # Shared by all dialogs.

    def on_mount(self) -> None:
        self.parts.fold()

    def value(self, field: str) -> str:
        """Text of a field."""
        return self.query_one(f"#{field}", Input).value

    def put(self, field: str, text: str) -> None:
        """Set the text of a field, and put the cursor at its end."""
        line_input = self.query_one(f"#{field}", Input)
        line_input.value = text
        line_input.cursor_position = len(text)

    def go(self, field: str) -> None:
        """Focus a field; folded ones are shown."""
        self.parts.unfold(field)
        self.query_one(f"#{field}", Input).focus()

    def say(self, text: str, style: str = "error", field: str = "") -> None:
        """Show a message below a field, by default the focused one; empty for none. Errors have a sign."""
        self.parts.say(text, style, field)

    @property
    def here(self) -> str:
        """Id of the focused field; the first one if none has the focus."""
        return (self.focused and self.focused.id) or self.fields[0].id

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if isinstance(event.widget, Input):
            self._answered = None
            self.parts.show_notes()
            self._suggest(self.here, event.widget.value)

    def on_input_changed(self, message: Input.Changed) -> None:
        self.say("")
        self._answered = None
        if message.input is self.focused:
            self._suggest(self.here, message.value)

    @work(thread=True, exclusive=True, group="suggest", exit_on_error=False)
    def _suggest(self, field: str, text: str) -> None:
        offer = self.offer(field, text)
        if not get_current_worker().is_cancelled:
            self.post_message(SuggestionsReady(text, offer))

    def on_suggestions_ready(self, message: SuggestionsReady) -> None:
        self.pane.show(message.offer)
        self._answered = message.text
        if self._is_completing:
            self.action_complete()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        suggestion = self.pane.choice()
        if suggestion is None:
            self.submit(self.here, message.value)
        else:
            self._take(suggestion)

    def on_line_view_cursor_move(self, message: LineView.CursorMove) -> None:
        """Accept a suggestion that was clicked."""
        self.pane.is_walked = True
        if suggestion := self.pane.choice():
            self._take(suggestion)

    on_line_view_activation = on_line_view_cursor_move  # enter accepts the suggestion under the cursor

    def _take(self, suggestion: FormSuggestion) -> None:
        if is_showable(suggestion.text):
            self.put(self.here, suggestion.text)
        elif not suggestion.is_final:
            self.say("this name has characters that cannot be shown; pass it on the command line")
        if suggestion.is_final:
            self.submit(self.here, suggestion.text)

    def action_walk(self, step: int) -> None:
        self.pane.walk(step)

    def action_complete(self) -> None:
        """Complete to the common prefix of the suggestions, once they are there; else go to the next field."""
        self._is_completing = self._answered != self.value(self.here)
        if self._is_completing:
            return
        common = self.pane.offer.common
        if len(common) > len(self.value(self.here)) and is_showable(common):
            self.put(self.here, common)
        else:
            self.action_field(1)

    def action_field(self, step: int) -> None:
        self.parts.unfold()
        ids = [field.id for field in self.fields if self.parts.is_shown(field.id)]
        self.go(ids[(ids.index(self.here) + step) % len(ids)])

    def action_cancel(self) -> None:
        self.dismiss(None)


class FieldInput(Input):
    """The line of a field; of an example that is too long the last form is left out."""

    def __init__(self, field: Field, value: str) -> None:
        super().__init__(value, field.example, restrict=SHOWABLE, id=field.id, select_on_focus=False)
        self._example = field.example

    def on_resize(self) -> None:
        room = max(1, self.content_size.width)
        forms = self._example.rpartition(", ")
        self.placeholder = self._example if cells(self._example) <= room else clip(forms[0] or self._example, room)


class FieldTitle(Bar):
    """Title and hint above a field."""

    def __init__(self, field: Field) -> None:
        super().__init__(id=f"{field.id}-label")
        self._field = field

    def on_resize(self) -> None:
        width, (title, hint) = self.size.width, self._field[1:3]
        words = line(Span(f" {title}", "strong"), Span(f"   {hint}", "muted"))
        lines = (
            [words] if cells(plain(words)) < width else [words[:1], *wrap(hint, width - 1, "muted", indent=1, most=2)]
        )
        self.styles.height = len(lines)
        self.show(lines)


class Note(Bar):
    """Lines below a field: what its text means, or what is wrong with it."""

    _content_words = ("", "")

    def on_resize(self) -> None:
        self.show_text(*self._content_words)

    def show_text(self, text: str, style: str) -> None:
        """Show a text, as high as it needs to be; nothing for an empty one."""
        self._content_words = text, style
        lines = wrap(text, max(20, self.screen.query_one("#form").size.width - 3), style, most=8) if text else []
        self.styles.height = len(lines)
        self.show([line("  ", *each) for each in lines])


class FormParts:
    """What a dialog shows beside its fields: notes below them, and the names of folded ones."""

    def __init__(self, form: FormScreen[Any]) -> None:
        self.form = form
        self._message = ("", "", "")

    def say(self, text: str, style: str, field: str) -> None:
        """Show a message below a field; a field without one says what its text means while it has the focus."""
        words = f"✗ {text}" if style == "error" else text
        self._message = (field or self.form.here, words, style) if text else ("", "", "")
        self.show_notes()

    def show_notes(self) -> None:
        """Show the notes of all fields."""
        form = self.form
        about, words, style = self._message
        for field in form.fields:
            note = form.query_one(f"#{field.id}-note", Note)
            if field.id == about:
                note.show_text(words, style)
            else:
                is_here = field.id == form.here
                note.show_text(form.explain(field.id, form.value(field.id)) if is_here else "", "muted")

    def is_shown(self, field: str) -> bool:
        """Whether a field is shown."""
        return bool(self.form.query_one(f"#{field}", Input).display)

    def put_away(self, field: str, *, is_shown: bool = False) -> None:
        """Hide a field and its title, or show them."""
        for part in (f"#{field}", f"#{field}-label"):
            self.form.query_one(part).display = is_shown

    def folded_fields(self) -> list[Field]:
        """The fields that are not shown yet."""
        return [each for each in self.form.fields if each.is_folded and not self.is_shown(each.id)]

    def fold(self) -> None:
        """Hide the fields that are shown on demand."""
        for field in self.form.fields:
            if field.is_folded:
                self.put_away(field.id)
        self.show_more()

    def unfold(self, wanted: str = "") -> None:
        """Show all fields, if the wanted one is folded; without one in any case."""
        folded = [each.id for each in self.folded_fields()]
        for field in folded if wanted in ("", *folded) else ():
            self.put_away(field, is_shown=True)
        self.show_more()

    def show_more(self) -> None:
        """Name the folded fields, and the key that shows them."""
        folded = [field.title.lower() for field in self.folded_fields()]
        bar = self.form.query_one("#more", Bar)
        bar.display = bool(folded)
        bar.show([line(Span("  ⊞ ", "accent"), Span(", ".join(folded), "muted"), Span(" · tab: show", "muted"))])
