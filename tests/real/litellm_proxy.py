"""A LiteLLM proxy that others wrote, whose logs go to an S3 server that others wrote, surveyed end to end.

The proxy is a command of its own, in an environment of its own: ``pip install 'litellm[proxy]' boto3``, and its
``litellm`` on the PATH or in ``WORKBENCH_LITELLM``. Its upstream is a server of this file, which answers and refuses.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.formats.importers.store_samples import CALL, CHAT, MESSAGES, TOOL
from tests.real.servers import answers, free_port, process, s3_server, wait_until
from tests.survey.conftest import Quiet, rows
from workbench.survey import Catalog, ObjectSelection, run_survey

if TYPE_CHECKING:
    from tests.real.survey import Trial

COMMAND = os.environ.get("WORKBENCH_LITELLM") or shutil.which("litellm")
KEY = "sk-test"
CONFIG = """
model_list:
  - model_name: gpt-4.1
    litellm_params: {{model: openai/gpt-4.1, api_base: "http://127.0.0.1:{upstream}/v1", api_key: none}}
  - model_name: claude
    litellm_params: {{model: anthropic/claude-sonnet-4-5, api_base: "http://127.0.0.1:{upstream}", api_key: none}}
litellm_settings:
  callbacks: ["s3_v2"]
  num_retries: 0
  s3_callback_params:
    s3_bucket_name: gateway
    s3_region_name: us-east-1
    s3_aws_access_key_id: testing
    s3_aws_secret_access_key: testing
    s3_endpoint_url: "{s3}"
    s3_path: logs
    s3_flush_interval: 1
general_settings: {{master_key: {key}}}
"""
TURNS = 5
"""Requests of one conversation; each has the history, and the proxy stores each as an object."""

LOOP = 4
"""Requests of a conversation that repeats a failing call: a fault that no single object shows."""


class Upstream(BaseHTTPRequestHandler):
    """A model: it calls the tool until it has a result, and refuses a call without one, as OpenAI does."""

    count = 0

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        Upstream.count += 1
        if self.path.endswith("/messages"):
            self._answer(200, _claude(Upstream.count))
        elif _is_open(body.get("messages", [])):
            self._answer(400, {"error": {"message": "An assistant message with 'tool_calls' must be followed by tool "
                "messages", "type": "invalid_request_error", "param": "messages", "code": None}})  # fmt: skip
        elif body.get("stream"):
            self._stream(Upstream.count)
        else:
            self._answer(200, _chat(Upstream.count, body))

    def _answer(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, number: int) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        first = {"id": f"chatcmpl-{number:024}", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4.1"}
        for delta, reason in (
            ({"role": "assistant", "content": "It"}, None),
            ({"content": " says hi."}, None),
            ({}, "stop"),
        ):
            chunk = first | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *words: Any) -> None:
        """Say nothing."""


def _is_open(messages: list[dict[str, Any]]) -> bool:
    last = messages[-1] if messages else {}
    return last.get("role") == "user" and len(messages) > 1 and bool(messages[-2].get("tool_calls"))


def _chat(number: int, body: dict[str, Any]) -> dict[str, Any]:
    call, created = CALL | {"id": f"call_{number:024}"}, int(time.time())
    message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"id": f"chatcmpl-{number:024}", "object": "chat.completion", "created": created, "model": "gpt-4.1",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55}}  # fmt: skip


def _claude(number: int) -> dict[str, Any]:
    return {"id": f"msg_{number:024}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
            "content": [{"type": "text", "text": "I do not know."}], "stop_reason": "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 50, "output_tokens": 5}}  # fmt: skip


@contextmanager
def _proxy(folder: Path, s3: str) -> Iterator[str]:
    """The proxy and its upstream."""
    assert COMMAND
    upstream = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    config, port = folder / "litellm.yaml", free_port()
    config.write_text(CONFIG.format(upstream=upstream.server_port, s3=s3, key=KEY), encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment |= {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    words = [COMMAND, "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    try:
        with process(*words, cwd=folder, env=environment):
            url = f"http://127.0.0.1:{port}"
            wait_until(lambda: answers(f"{url}/health/liveliness"), 120)
            yield url
    finally:
        upstream.shutdown()


def _ask(url: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}", "x-api-key": KEY}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            data = answer.read()
    except urllib.error.HTTPError as error:
        error.read()
        return {}
    return {} if body.get("stream") else json.loads(data)


def _traffic(url: str) -> int:
    """Send requests through the proxy: (number of them)."""
    chat = {"model": "gpt-4.1", "tools": [TOOL], "temperature": 0.2}
    for task, content in (("read it", "hello"), ("loop", "Error: no such file")):
        messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
        for _ in range(TURNS if task == "read it" else LOOP):
            answer = _ask(url, "/v1/chat/completions", chat | {"messages": messages})["choices"][0]["message"]
            kept = {"role": "assistant", "content": answer.get("content"), "tool_calls": answer["tool_calls"]}
            messages += [kept, {"role": "tool", "tool_call_id": answer["tool_calls"][0]["id"], "content": content}]
    _ask(url, "/v1/chat/completions", CHAT | {"messages": MESSAGES})  # refused: a call without its result
    _ask(url, "/v1/chat/completions", chat | {"messages": [{"role": "user", "content": "hi"}], "stream": True})
    message = {"role": "user", "content": "What is in a.txt?"}
    _ask(url, "/v1/messages", {"model": "claude", "max_tokens": 20, "messages": [message]})
    _ask(url, "/v1/chat/completions", {"model": "claude", "max_tokens": 20, "messages": [message]})
    return TURNS + LOOP + 4


def litellm(trial: Trial) -> bool:
    """A real proxy writes its logs; each request is an object, and the survey joins them."""
    import obstore

    if not COMMAND:
        print(
            "skip litellm: the command litellm is not found; pip install 'litellm[proxy]' boto3, or WORKBENCH_LITELLM"
        )
        return True
    with s3_server("gateway") as server:
        from workbench.survey.object_listing import Listing, _store

        with _proxy(trial.folder, server) as url:
            sent = _traffic(url)
            wait_until(lambda: len(list(Listing("s3://gateway/logs"))) >= sent, 60)
        if kept := os.environ.get("WORKBENCH_KEEP_LOGS"):
            bucket, _ = _store("s3://gateway/")
            for number, found in enumerate(Listing("s3://gateway/logs")):
                data = bytes(obstore.get(bucket, found.uri.partition("gateway/")[2]).bytes())
                (Path(kept) / f"{number:03}.json").write_bytes(data)
        catalog = Catalog(trial.folder / "litellm")
        given = trial.options("s3://gateway/logs", selection=ObjectSelection(joins=True))
        result = run_survey(catalog, given, Quiet())
    assert result.commit is not None
    counts, joined = result.commit.about["counts"], result.commit.about["joined"]
    formats = Counter(row[5] for row in rows(catalog, "objects"))
    found = Counter((row[3], row[4]) for row in rows(catalog, "findings"))
    verdicts = Counter(row[16] for row in rows(catalog, "exchanges"))
    print(f"     litellm: {counts['listed']} objects of {sent} requests, {dict(formats)}, {dict(verdicts)}")
    print(f"     litellm: joined {joined}")
    print(f"     litellm: findings {dict(found)}")
    checks = {
        "every request is an object": counts["listed"] == counts["judged"] == sent,
        "all are read as LiteLLM's": set(formats) == {"LiteLLM log"},
        "the two agents are joined": joined["units"] == 2 and joined["objects"] == TURNS + LOOP,
        "nothing is without its earlier exchange but the hand-made history": joined["without_earlier"] == 1,
        "the refused request is named": found["closure.missing-result", "error"] >= 1,
        "the loop is named once": sum(n for (rule, _), n in found.items() if rule == "retry.loop") in (1, 2),
        "nothing is found in the envelope": not [rule for rule, _ in found if rule.startswith("gateway.")],
        "nothing is undecided": "undecided" not in verdicts,
    }
    for name, is_right in checks.items():
        print(f"{'ok  ' if is_right else 'FAIL'} litellm: {name}")
    return all(checks.values())
