"""The fixtures for other people's tests, in a test run of their own."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

pytest_plugins = ("pytester",)

TESTS = """
    import json, urllib.request, urllib.error

    def post(url, path, body):
        asked = urllib.request.Request(url + path, json.dumps(body).encode(), {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(asked) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}
    ASKED = {"model": "deepseek-v4-flash", "messages": [{"role": "user", "content": "ls"}], "tools": [TOOL]}
    CALL = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    LOST = [*ASKED["messages"], {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "content": "a"}]

    def test_strict(strict_provider):
        url = strict_provider("deepseek")
        assert url.startswith("http://127.0.0.1:") and isinstance(url, str)
        assert post(url, "/chat/completions", ASKED)[0] == 200 and not url.refusals
        status, said = post(url, "/v1/chat/completions", {**ASKED, "messages": LOST})
        assert status == 400 and "reasoning_content" in said["error"]["message"]
        (refused,) = url.refusals
        assert refused.finding.rule == "reasoning.missing" and len(url.requests) == 2
        assert json.loads(refused.body)["messages"] == LOST

    def test_permissive(permissive_provider):
        url = permissive_provider("deepseek")
        assert post(url, "/chat/completions", {**ASKED, "messages": LOST})[0] == 200
        assert not url.refusals and url.requests[0].finding.rule == "reasoning.missing"

    def test_dials_and_scripts(strict_provider):
        limited = strict_provider("openai", http="429:once", parallel=2)
        answers = [post(limited, "/v1/chat/completions", {**ASKED, "model": "gpt-4.1"}) for _ in range(2)]
        assert [status for status, _ in answers] == [429, 200]
        assert len(answers[1][1]["choices"][0]["message"]["tool_calls"]) == 2
        told = strict_provider("generic", script="version: 1\\nturns: [{answer: {text: hi, calls: []}}]")
        assert post(told, "/v1/chat/completions", ASKED)[1]["choices"][0]["message"]["content"] == "hi"

    def test_that_fails(strict_provider):
        url = strict_provider("deepseek")
        post(url, "/v1/chat/completions", {**ASKED, "messages": LOST})
        post(url, "/v1/messages", [])
        assert not url.refusals

    def test_a_contract_that_does_not_exist(strict_provider):
        strict_provider("nobody")
"""


def run(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    """Only this plugin, by its entry point where the checkout is installed: others are not made to run inside a run."""
    others = [entry.name for entry in entry_points(group="pytest11") if entry.name != "workbench"]
    is_installed = any(entry.name == "workbench" for entry in entry_points(group="pytest11"))
    without = [word for name in ("cacheprovider", *others) for word in ("-p", f"no:{name}")]
    return pytester.runpytest("-q", *without, *(() if is_installed else ("-p", "workbench.pytest_plugin")), *words)


def test_the_fixtures(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    done = run(pytester)
    done.assert_outcomes(passed=3, failed=2)
    done.stdout.fnmatch_lines(["*no contract named 'nobody'*"])
    done.stdout.fnmatch_lines(
        [
            "E * assert not [[]POST /v1/chat/completions 400 *",
            "*- workbench: refused by deepseek -*",
            "POST /v1/chat/completions 400",
            "  reasoning.missing at /messages/1: *",
            "  deepseek says: *",
            "  repair: switch off thinking for this request (verified against the contract only*",
            "POST /v1/messages 400 *",
        ]
    )


def test_the_fixtures_say_what_they_are_for(pytester: pytest.Pytester) -> None:
    listed = run(pytester, "--fixtures").stdout.str()
    for said in ("strict_provider", "the base URL of a provider that refuses", "permissive_provider"):
        assert said in listed
