"""Outcome of a tool call, from its result: a class, and the text without times and other varying parts."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from typing import Final

from workbench import regex
from workbench.errors import WireError
from workbench.ir import JsonValue, Opaque, Part, Text, ToolResultIR
from workbench.named_tuple import NamedTuple
from workbench.wire import dumps, loads

FAILURE = regex.compile(
    r"\s*(?:[\"'{\[(<`*]|[\w ]{1,12}[\"']?:)*\s*(?:\w*error\b|\w*exception\b|traceback\b|fail(?:ed|ure)\b|fatal\b"
    r"|invalid\b|unknown (?:tool|function|command)\b|denied\b|permission denied|command not found|no such (?:file|tool)"
    r"|(?:connection|request|operation)(?: was)? (?:refused|reset|aborted|closed|timed out)|timed out\b|access denied\b"
    r"|cannot\b|could not\b|tool_use_error|❌"
    r"|fehler\b|erreur\b|erro\b|errore\b|ошибка|错误|失败|錯誤|失敗|エラー|오류)",
    re.IGNORECASE,
)
"""Beginnings of tool results that report a failure in words."""

_FAILURE_ANYWHERE = regex.compile(
    r"\s*(?:\w+ ){0,4}?(?:nicht gefunden|konnte nicht|no se (?:encontró|pudo|puede)|no existe\b|introuvable"
    r"|impossible d|não (?:encontrad|foi possível)|non (?:trovat|è stato possibile))|"
    r"\s*\w{0,16}?(?:失败|失敗|出错|异常|超时|被拒绝|無法|无法|不存在|未找到|找不到|没有权限|参数错误|見つかりません|できません"
    r"|실패|찾을 수 없)"
    r"|\s*(?:process |command |script )?(?:exited|finished|failed|terminated|exit|return)(?:ed)?(?: with)?"
    r" ?(?:exit )?(?:code|status)[:= ]{1,3}-?[1-9]\d{0,9}\b"
    r"|\s*(?:http(?:/[\d.]{1,3})? ?)?(?:error )?[45]\d\d:? (?:bad (?:request|gateway)|un(?:authorized|processable)"
    r"|forbidden|not (?:found|allowed)|conflict|gone|too many|internal server|service unavail|gateway time)"
    r"|\s*(?:http(?: status)?|status(?:[ _]code)?)[:= ]{1,3}[45]\d\d\b",
    re.IGNORECASE,
)
_LOG_HEAD = regex.compile(
    r"\W{0,2}\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?\W{0,3}"
    r"(?:\w{1,12}\W{1,3}){0,2}?(?=\w)"
)
"""Time and level in front of a line of a log."""

_FAILURE_SENTENCE = regex.compile(
    r"[^\n]{0,80}?\b(?:build|command|request|job|task|operation|connection|upload|download|login|query|call|step|script"
    r"|install(?:ation)?|compilation|deploy(?:ment)?|process)\b[^\n.]{0,60}?(?<!not )\b(?:has |have )?"
    r"(?:failed|timed out)\b"
    r"|[^\n]{0,80}?(?<!\d )\bfailed (?:after|with|to|because|due)\b",
    re.IGNORECASE,
)
"""A short result that reports a failure in its one sentence."""

LONGEST_SENTENCE = 160

BARE_STATUS = regex.compile(r"\W*(?:[a-z]+\W+){0,5}-?\d{1,10}\W*", re.IGNORECASE)
"""A failure with a number and no description: many different failures have the same text."""

_FAILURE_LINE = regex.compile(
    r"(?m)^[\[(<]?(?:exit[ _]?(?:code|status)|return[ _]?code|exited with(?: code)?)[\])>]?[:= ]{1,3}-?[1-9]\d{0,9}"
    r"[\])>]?\s*$",
    re.IGNORECASE,
)
_EMPTY = regex.compile(
    r"\W*(?:(?:there (?:are|were) )?(?:no|0|zero) (?:\w+ )?"
    r"(?:results?|match(?:es)?|data|items?|entries|records?|rows?|files?|documents?|hits?|messages?)"
    r"(?: (?:were |was )?(?:found|returned|matched|available|produced))?(?: (?:for|in|matching)\b.{0,120})?"
    r"|nothing(?: was)? found|没有结果|无结果|没有找到.{0,40}|結果なし|결과 없음)\W*",
    re.IGNORECASE,
)
_SILENT = regex.compile(
    r"\W*(?:null|none|undefined|empty|n/a|no (?:output|content)|empty (?:output|result|string))?\W*", re.IGNORECASE
)
_NOT_FOUND = regex.compile(
    r"\bnot[ _]found\b|\bno such\b|\bdoes(?: not|n't) exist\b|\bunknown (?:id|path|file)\b|\b404\b"
    r"|不存在|未找到|找不到|見つかりません|찾을 수 없",
    re.IGNORECASE,
)
PENDING_WORDS = regex.compile(
    r"\W*(?:[\w ]{1,20}\W+)?(?:(?:is )?still |not )?(?:pending|running|queued|in[ _]progress|processing|waiting"
    r"|(?:not|un)[ _]?ready|ready\W*false|starting|building|started|ready yet|finished yet|done yet)\b",
    re.IGNORECASE,
)
"""Beginnings of tool results that ask to wait."""

_TIME = regex.compile(
    r"\d(?<!\w\d)(?:\d{3}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\d?:\d\d(?::\d\d(?:[.,]\d+)?)?\b"
    r"|(?<=1)\d{9}(?:\d{3})?(?:\.\d+)?\b"
    r"|\d*(?:[.,]\d+)?\s?(?:ns|µs|us|ms|s|sec(?:ond)?s?|min(?:ute)?s?|h(?:ours?)?)\b)",
    re.IGNORECASE,
)
"""Dates, times and durations. Each begins with a digit, so the search looks for a digit first."""
_NUMBER = regex.compile(
    r"\b(?:0x[0-9a-f]+|(?=[a-f-]*\d)[0-9a-f]{8}(?:-?[0-9a-f]{4,12}){0,4}|\d+[.,]\d+|\d{3,})\b", re.I
)
"""Numbers that count nothing: addresses, ids, fractions. A short number may be the only difference of an error."""

_ATTEMPT = regex.compile(r"\b(attempt|try|retry|request|run)( ?(?:no\.?|number|#)? ?)\d+", re.IGNORECASE)
_PLACES = regex.compile(
    r"(?<=\bline )\d+|(?<=\bcolumn )\d+|\"(?:took|elapsed|duration|latency|runtime)(?:_?[a-z]{1,7})?\": ?[\d.]+", re.I
)
_DIGIT = regex.compile(r"\d")
_STATUS_KEYS = ("status", "statusCode", "status_code", "http_status", "httpStatus", "code")
_EXIT_KEYS = ("exit_code", "exitCode", "exit", "returncode", "return_code", "exit_status", "exitStatus")
_FLAG_KEYS = ("success", "ok", "successful", "succeeded")
_ERROR_KEYS = ("error", "errors", "error_message", "errorMessage", "exception")
_STATE_KEYS = ("status", "state", "phase", "stage")
_DONE = regex.compile(r"(?:fail|error|denied|rejected|cancell?ed|abort|timed?[ _-]?out|not[ _]?found)", re.IGNORECASE)
_NEST = ("metadata", "meta", "result", "response", "data", "output", "body")

_LONGEST_JSON = 20_000
_READ = 2_000  # characters of a result that tell what it is


class ResultOutcome(enum.Enum):
    """Outcome of a call by its result. Empty text is success for a tool that acts, nothing found for others."""

    NORMAL = "normal"
    PENDING = "pending"
    SILENT = "silent"
    EMPTY = "empty"
    NOT_FOUND = "not found"
    FAILED = "failed"

    @property
    def is_failed(self) -> bool:
        """True if the tool did not do what was requested."""
        return self in FAILURES


FAILURES: Final = (ResultOutcome.FAILED, ResultOutcome.NOT_FOUND)
"""Outcomes where the tool did not do what was requested."""


class ResultReading(NamedTuple):
    """An outcome.

    Attributes:
        text: text of the result.
        kind: class of the outcome.
        mark: the text without times, in failures also without numbers that count nothing: two results with one mark
            mean the same.
    """

    text: str
    kind: ResultOutcome
    mark: str


def classify(result: ToolResultIR) -> ResultReading:
    """The outcome of a tool result."""
    text = result_text(result)
    kind = _kind(result, text)
    mark = _without_variety(text[:_READ], kind)
    return ResultReading(text, kind, mark if len(text) <= _READ else mark + text[_READ:])


def _without_variety(text: str, kind: ResultOutcome) -> str:
    if not _DIGIT.search(text):
        return _with_single_blanks(text)
    mark = _with_single_blanks(_TIME.sub("#", text))
    return _ATTEMPT.sub(r"\1\2#", _NUMBER.sub("#", mark)) if kind.is_failed else mark


def _with_single_blanks(text: str) -> str:
    """A blank in place of each run of whitespace."""
    words = text.split()
    if not words:
        return " " if text else ""
    return " " * text[0].isspace() + " ".join(words) + " " * text[-1].isspace()


def without_echoes(mark: str, kind: ResultOutcome, arguments: JsonValue) -> str:
    """A mark without the arguments of the call that a failure repeats."""
    if not kind.is_failed or not isinstance(arguments, Mapping):
        return mark
    argument_texts = {_without_variety(v, kind) for v in arguments.values() if isinstance(v, str)}
    for value in sorted((v for v in argument_texts if SHORTEST_ECHO <= len(v) <= _READ), key=len, reverse=True):
        mark = mark.replace(value, "…")
    return mark


SHORTEST_ECHO = 4
"""Minimum length in characters of an argument that a result does not contain by chance."""


def outcome_of(result: ToolResultIR) -> ResultOutcome:
    """Only the class of the outcome, which is determined by the beginning of the result."""
    return _kind(result, result_text(result))


def has_failed(result: ToolResultIR) -> bool:
    """True if a flag, a status, an exit code or the first words of the result show that the tool failed."""
    return outcome_of(result).is_failed


def result_text(result: ToolResultIR) -> str:
    """The text of a result."""
    return "".join(map(_part_text, result.content)).strip()


def _part_text(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    return dumps(part.value).decode() if _is_json_part(part) and isinstance(part, Opaque) else ""


def _is_json_part(part: Part) -> bool:
    return isinstance(part, Opaque) and part.type == "json"


def _kind(result: ToolResultIR, text: str) -> ResultOutcome:
    head = _without_log_head(text[:200])
    value = _value(text)
    if result.is_error or _says_so(head, text) or _is_failure(value, text):
        return ResultOutcome.NOT_FOUND if _NOT_FOUND.search(text[:400]) else ResultOutcome.FAILED
    if PENDING_WORDS.match(text) or _is_pending(value):
        return ResultOutcome.PENDING
    if len(text) > _READ or any(not (isinstance(part, Text) or _is_json_part(part)) for part in result.content):
        return ResultOutcome.NORMAL
    if _SILENT.fullmatch(text) and not isinstance(value, list):
        return ResultOutcome.SILENT
    return ResultOutcome.EMPTY if _is_empty(value) or _EMPTY.fullmatch(text) else ResultOutcome.NORMAL


def _without_log_head(head: str) -> str:
    found = _LOG_HEAD.match(head) if head[:1].isdigit() or head[1:2].isdigit() else None
    return head[found.end() :] if found else head


def _says_so(head: str, text: str) -> bool:
    """The words of a result report a failure."""
    is_sentence = len(text) <= LONGEST_SENTENCE and "\n" not in text
    return bool(
        FAILURE.match(head)
        or _FAILURE_ANYWHERE.match(head)
        or (is_sentence and text[:1] not in ("{", "[{") and _FAILURE_SENTENCE.match(text))
    )


def _value(text: str) -> JsonValue:
    """The text parsed as JSON; None if it is not an object or list, or too long."""
    if text[:1] not in ("{", "[") or len(text) > _LONGEST_JSON:
        return None
    try:
        return loads(text)
    except WireError:
        return None


def _is_failure(value: JsonValue, text: str) -> bool:
    if value is None:
        ends = (text,) if len(text) <= _READ else (text[:_READ], text[-_READ:])
        return any([_may_say_status(end) and _FAILURE_LINE.search(end) for end in ends])
    return any(map(_says_failure, _objects(value)))


def _may_say_status(text: str) -> bool:
    """A word of ``_FAILURE_LINE`` is in it, or may be in letters that are no ASCII."""
    low = text.lower()
    return "exit" in low or "return" in low or not text.isascii()


def _objects(value: JsonValue) -> Sequence[Mapping[str, JsonValue]]:
    """The object that a result is, and those that it is wrapped around."""
    if not isinstance(value, dict):
        return ()
    return [value, *(inner for key in _NEST if isinstance(inner := value.get(key), dict))]


def _says_failure(value: Mapping[str, JsonValue]) -> bool:
    if any(value.get(key) is False for key in _FLAG_KEYS) or any(
        value.get(key) is True for key in ("isError", "is_error")
    ):
        return True
    if any(type(code := value.get(key)) is int and code for key in _EXIT_KEYS):
        return True
    if any(value.get(key) for key in _ERROR_KEYS):
        return True
    for status in map(value.get, _STATUS_KEYS):
        if type(status) is int and 400 <= status < 600:
            return True
        if isinstance(status, str) and (_DONE.match(status) or (status.isdigit() and 400 <= int(status[:9]) < 600)):
            return True
    return False


def _is_pending(value: JsonValue) -> bool:
    for candidate in _objects(value):
        for state in map(candidate.get, _STATE_KEYS):
            if isinstance(state, str) and PENDING_WORDS.match(state):
                return True
    return False


def _is_empty(value: JsonValue) -> bool:
    """No item, no text, no number but zero and what repeats the question."""
    if isinstance(value, Mapping):
        lists = [v for v in value.values() if isinstance(v, list | Mapping) or v is None or v == ""]
        return not value or (bool(lists) and all(not v for v in lists) and not any(map(_is_content, value.items())))
    return isinstance(value, list) and not value


_ECHOES = frozenset(
    {"query", "q", "page", "limit", "offset", "pattern", "path", "success", "ok", "status", "took", "next"}
)


_DURATION = regex.compile(
    r"(?:took|elapsed|duration|latency|time|runtime)(?:_?(?:ms|s|sec|secs|seconds|millis|us))?", re.I
)


def _is_content(item: tuple[str, JsonValue]) -> bool:
    key, value = item
    is_duration = isinstance(value, int | float) and _DURATION.fullmatch(key)
    return key.lower() not in _ECHOES and bool(value) and not is_duration


def without_places(mark: str) -> str:
    """A mark without line numbers and durations: equal failures of one call may differ only in these."""
    return _PLACES.sub("#", mark)
