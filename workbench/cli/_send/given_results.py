"""Tool results for ``continue``: from options, from the recording, or typed at the terminal."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import _output
from workbench.errors import UsageError
from workbench.lazy_dataclass import dataclass, field

if TYPE_CHECKING:
    from workbench.ir import JsonValue
    from workbench.send.loop import AnswerCall, CallResult, RecordedResult
    from workbench.wire.session import Session

ANSWER_HELP = {
    "result": "result of a tool call, by its id or tool name (repeatable)",
    "result-file": "result of a tool call, read from a text file (repeatable)",
    "error": "mark the tool call as failed, with this error text",
}


@dataclass(frozen=True, slots=True)
class GivenResult:
    """A tool result and its origin: "given", "recorded", "typed" or "refusal"."""

    result: CallResult
    origin: str
    recorded_in: int | None = None

    def as_json(self) -> dict[str, JsonValue]:
        """The result as a part of a step in the JSON output."""
        from workbench.ir import Text

        texts = (p.text if isinstance(p, Text) else f"({type(p).__name__.lower()})" for p in self.result.content)
        return {
            "result": "\n".join(texts),
            "is_error": self.result.is_error,
            "from": self.origin,
            "recorded_in": self.recorded_in,
        }


@dataclass(frozen=True, slots=True)
class GivenResults:
    """Results from the options, by call id or tool name."""

    results: Mapping[str, CallResult] = field(default_factory=dict)

    @classmethod
    def from_arguments(cls, args: argparse.Namespace) -> GivenResults:
        """Read the results from the options. Raises UsageError."""
        from workbench.send.loop import CallResult

        found: dict[str, CallResult] = {}
        for option, words in (("result", args.result), ("result-file", args.result_file), ("error", args.error)):
            for word in words:
                name, sign, value = word.partition("=")
                if not sign or not name:
                    raise UsageError(f"--{option} {word!r:.60}: no ID=…", hint="ID is a call id or a tool name")
                if name in found:
                    raise UsageError(f"two results for {name!r}", hint="give one result for each call")
                text = _read(value) if option == "result-file" else value
                found[name] = CallResult(text, is_error=option == "error")
        return cls(found)


def _read(path: str) -> str:
    """The text of a file. Raises UsageError if it is not UTF-8."""
    data = Path(path).read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UsageError("not UTF-8 text", where=path, hint="a tool result must be UTF-8 text") from None


class CallAnswers:
    """Finds the result of each tool call."""

    def __init__(self, session: Session, index: int, given_results: GivenResults, args: argparse.Namespace) -> None:
        from workbench.send.loop import RecordedResults

        self._results, self._index, self._wants_recorded = given_results.results, index, args.recorded
        self._recording = RecordedResults(session, args.protocol)
        self._is_asked = sys.stdin.isatty() and sys.stderr.isatty() and args.file != "-"

    def result_for(self, step: AnswerCall) -> GivenResult | None:
        """The result of a call; None if there is none."""
        from workbench.send.loop import refusal_result

        call = step.call
        by_id, by_name = self._results.get(call.id or ""), self._results.get(call.name or "")
        if by_id:
            return GivenResult(by_id, "given")
        if step.refusal:
            return GivenResult(refusal_result(step.refusal), "refusal")
        if by_name:
            return GivenResult(by_name, "given")
        recorded = self._recording.of(call, self._index) if self._wants_recorded or self._is_asked else None
        if recorded and self._wants_recorded:
            return GivenResult(recorded.result, "recorded", recorded.exchange)
        return self._ask(step, recorded) if self._is_asked else None

    def call_json(self, step: AnswerCall) -> dict[str, JsonValue]:
        """The call as a part of a step in the JSON output."""
        refusal = step.refusal
        return {
            "id": step.call.id,
            "name": step.call.name,
            "arguments": step.arguments if refusal is None else step.call.raw or step.call.input,
            "error": refusal.message if refusal else None,
        }

    def _ask(self, step: AnswerCall, recorded: RecordedResult | None) -> GivenResult | None:
        """Ask at the terminal; None at ctrl-d."""
        from workbench.send.loop import CallResult

        call_text = self.call_json(step)
        arguments = json.dumps(call_text["arguments"], ensure_ascii=False)
        _output.complain(f"call {step.number + 1} of {step.of}: {call_text['name']} {arguments}", 0)
        if recorded:
            result = GivenResult(recorded.result, "recorded", recorded.exchange)
            _output.complain(f"recorded in exchange {recorded.exchange + 1}: {result.as_json()['result']}", 0)
        empty = "enter: use the recorded result" if recorded else "enter: empty result"
        print(f"result ({empty}; !TEXT: error; @FILE: from a file; ctrl-d: stop) ", end="", file=sys.stderr, flush=True)  # noqa: T201
        line = sys.stdin.readline()
        if not line:
            return None
        text = line.removesuffix("\n")
        if not text and recorded:
            return GivenResult(recorded.result, "recorded", recorded.exchange)
        if text.startswith("@"):
            try:
                return GivenResult(CallResult(_read(text[1:])), "typed")
            except (UsageError, OSError) as error:
                _output.complain(str(error), 0)
                return self._ask(step, recorded)
        return GivenResult(CallResult(text.removeprefix("!"), is_error=text.startswith("!")), "typed")
