"""Real clients of WebSocket APIs through the recorder, each against a strict simulator.

The official SDKs of OpenAI (Realtime and Responses, synchronous and asynchronous) and Google (Live, which accepts
nothing but TLS), and with compression ``ws`` of Node, where npm can install it, and ``nhooyr.io/websocket`` and
``gorilla/websocket`` of Go, where ``go`` can fetch them or Debian has installed them
(``golang-nhooyr-websocket-dev``, ``golang-github-gorilla-websocket-dev``).

Each drives one tool loop, first without the recorder, then with it. It passes if both print the same, the loop ends
with the result, the bytes on both sides of the recorder are the same, the recording verifies, holds the turns, and
nothing is found in it. The bytes of a connection with TLS are not compared.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.rules.inspection import Inspector
from workbench.simulator import Simulator, serve
from workbench.wire.exchange import ExchangeKind
from workbench.wire.session.store import fsck, open_session

_TOOL = """
TOOL = {"type": "function", "name": "list_dir", "description": "Lists a folder.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}
"""
_CLIENT = """
import asyncio, os, openai
base = os.environ["OPENAI_BASE_URL"]
made = openai.CLIENT(base_url=base, websocket_base_url=base.replace("http", "ws", 1), api_key="any")
"""
_REALTIME = """
async def loop():
    async with made.realtime.connect(model="gpt-realtime") as connection:
        async def until_done():
            async for event in connection:
                if event.type == "response.done":
                    return event.response.output[0]
        await connection.session.update(session={"type": "realtime", "tools": [TOOL], "output_modalities": ["text"]})
        text = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "list src"}]}
        await connection.conversation.item.create(item=text)
        await connection.response.create()
        call = await until_done()
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "a b"}
        await connection.conversation.item.create(item=result)
        await connection.response.create()
        print((await until_done()).content[0].text)
"""
_RESPONSES = """
async def loop():
    async with made.responses.connect() as connection:
        async def answer(**members):
            await connection.response.create(model="gpt-5.4", tools=[TOOL], store=False, **members)
            async for event in connection:
                if event.type == "response.completed":
                    return event.response
        first = await answer(input=[{"role": "user", "content": "list src"}])
        result = {"type": "function_call_output", "call_id": first.output[0].call_id, "output": "a b"}
        second = await answer(input=[result], previous_response_id=first.id)
        print(second.output[0].content[0].text)
"""
_LIVE = """
import asyncio, os
from google import genai
from google.genai import types
options = types.HttpOptions(base_url=os.environ["GOOGLE_GEMINI_BASE_URL"], api_version="v1beta")
made = genai.Client(api_key="any", http_options=options)
path = types.Schema(type="OBJECT", properties={"path": types.Schema(type="STRING")}, required=["path"])
declared = types.FunctionDeclaration(name="list_dir", description="Lists a folder.", parameters=path)
config = types.LiveConnectConfig(response_modalities=["AUDIO"], tools=[types.Tool(function_declarations=[declared])])
async def loop():
    async with made.aio.live.connect(model="gemini-3.1-flash-live-preview", config=config) as session:
        await session.send_client_content(turns=types.Content(role="user", parts=[types.Part(text="list src")]))
        async for message in session.receive():
            for call in message.tool_call.function_calls if message.tool_call else ():
                result = types.FunctionResponse(id=call.id, name=call.name, response={"output": "a b"})
                await session.send_tool_response(function_responses=[result])
            heard = message.server_content and message.server_content.output_transcription
            if message.text or heard:
                print(message.text or heard.text)
asyncio.run(loop())
"""
_WEBSOCKETS = """
import json, os
from websockets.sync.client import connect
url = os.environ["OPENAI_BASE_URL"].replace("http", "ws", 1) + "/responses"
tool = {"type": "function", "name": "list_dir", "description": "Lists a folder.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}
with connect(url, additional_headers={"authorization": "Bearer any"}) as socket:
    def answer(**members):
        asked = {"type": "response.create", "model": "gpt-5.4", "tools": [tool], "store": False, **members}
        socket.send(json.dumps(asked))
        while (event := json.loads(socket.recv()))["type"] != "response.completed":
            pass
        return event["response"]
    first = answer(input=[{"role": "user", "content": "list src"}])
    result = {"type": "function_call_output", "call_id": first["output"][0]["call_id"], "output": "a b"}
    print(answer(input=[result], previous_response_id=first["id"])["output"][0]["content"][0]["text"])
"""
_NODE = """
const WebSocket = require("ws");
const url = process.env.OPENAI_BASE_URL.replace("http", "ws") + "/responses";
const tool = {type: "function", name: "list_dir", description: "Lists a folder.",
  parameters: {type: "object", properties: {path: {type: "string"}}, required: ["path"]}};
const socket = new WebSocket(url, {perMessageDeflate: true, headers: {authorization: "Bearer any"}});
const create = (more) => socket.send(JSON.stringify(
  {type: "response.create", model: "gpt-5.4", tools: [tool], store: false, ...more}));
socket.on("open", () => create({input: [{role: "user", content: "list src"}]}));
socket.on("message", (data) => {
  const event = JSON.parse(data);
  if (event.type !== "response.completed") return;
  const item = event.response.output[0];
  if (item.type === "function_call") {
    const result = {type: "function_call_output", call_id: item.call_id, output: "a b"};
    create({input: [result], previous_response_id: event.response.id});
  } else { console.log(item.content[0].text); socket.close(); }
});
"""


_GO = """
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"IMPORT"
)

type event struct {
	Type     string
	Response struct {
		ID     string
		Output []struct {
			Type    string
			CallID  string `json:"call_id"`
			Content []struct{ Text string }
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	url := strings.Replace(os.Getenv("OPENAI_BASE_URL"), "http", "ws", 1) + "/responses"
	header := http.Header{"Authorization": {"Bearer any"}}
DIAL
	create := func(more map[string]any) {
		parameters := map[string]any{"type": "object", "required": []string{"path"},
			"properties": map[string]any{"path": map[string]any{"type": "string"}}}
		tool := map[string]any{"type": "function", "name": "list_dir", "description": "Lists a folder.",
			"parameters": parameters}
		more["type"], more["model"], more["tools"], more["store"] = "response.create", "gpt-5.4", []any{tool}, false
		data, err := json.Marshal(more)
		must(err)
		send(data)
	}
	create(map[string]any{"input": []any{map[string]any{"role": "user", "content": "list src"}}})
	for {
		var e event
		must(json.Unmarshal(receive(), &e))
		if e.Type != "response.completed" {
			continue
		}
		if item := e.Response.Output[0]; item.Type == "function_call" {
			result := map[string]any{"type": "function_call_output", "call_id": item.CallID, "output": "a b"}
			create(map[string]any{"input": []any{result}, "previous_response_id": e.Response.ID})
		} else {
			fmt.Println(item.Content[0].Text)
			break
		}
	}
	end()
}
"""
_NHOOYR = """
	ctx := context.Background()
	made, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: header,
		CompressionMode: websocket.CompressionContextTakeover, CompressionThreshold: 1})
	must(err)
	send := func(data []byte) { must(made.Write(ctx, websocket.MessageText, data)) }
	receive := func() []byte { _, data, err := made.Read(ctx); must(err); return data }
	end := func() { made.Close(websocket.StatusNormalClosure, "") }
"""
_GORILLA = """
	_ = context.Background()
	dialer := websocket.Dialer{EnableCompression: true}
	made, _, err := dialer.Dial(url, header)
	must(err)
	send := func(data []byte) { must(made.WriteMessage(websocket.TextMessage, data)) }
	receive := func() []byte { _, data, err := made.ReadMessage(); must(err); return data }
	end := func() {
		must(made.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, "")))
		made.ReadMessage()
		made.Close()
	}
"""


def _go(package: str, dial: str) -> str:
    return _GO.replace("IMPORT", package).replace("DIAL", dial)


def _asynchronous(body: str) -> str:
    return _TOOL + _CLIENT.replace("CLIENT", "AsyncOpenAI") + body + "asyncio.run(loop())\n"


def _synchronous(body: str) -> str:
    plain = body.replace("async def", "def").replace("async with", "with").replace("async for", "for")
    return _TOOL + _CLIENT.replace("CLIENT", "OpenAI") + plain.replace("await ", "") + "loop()\n"


@dataclass(frozen=True)
class RealClient:
    """A client and what it speaks to.

    Attributes:
        upstream: name of the upstream: the provider whose variable the client reads.
        contract: of the simulator.
        path: behind the simulator's address.
        program: words before the file.
        needs: package of npm, or of Go; empty if none.
        compresses: it offers permessage-deflate.
    """

    name: str
    upstream: str
    contract: str
    path: str
    script: str
    program: tuple[str, ...] = (sys.executable, "-W", "ignore")
    options: tuple[str, ...] = ()
    needs: str = ""
    compresses: bool = False

    @property
    def has_tls(self) -> bool:
        """Nothing but TLS is accepted: it can only be driven with a recorder, and its bytes cannot be compared."""
        return "--tls-listen" in self.options


_OPENAI = RealClient("", "openai", "openai", "/v1", "")
_COMPRESSING = replace(_OPENAI, compresses=True)
_NHOOYR_PACKAGE, _GORILLA_PACKAGE = "nhooyr.io/websocket", "github.com/gorilla/websocket"
CLIENTS = (
    replace(_OPENAI, name="openai-realtime-sync", contract="openai-realtime", script=_synchronous(_REALTIME)),
    replace(_OPENAI, name="openai-realtime-async", contract="openai-realtime", script=_asynchronous(_REALTIME)),
    replace(_OPENAI, name="openai-responses-sync", script=_synchronous(_RESPONSES)),
    replace(_OPENAI, name="openai-responses-async", script=_asynchronous(_RESPONSES)),
    RealClient("google-genai-live", "gemini", "gemini-live", "", _LIVE, options=("--tls-listen",)),
    replace(_COMPRESSING, name="python-websockets", script=_WEBSOCKETS),
    replace(_COMPRESSING, name="node-ws", script=_NODE, program=("node",), needs="ws"),
    replace(
        _COMPRESSING, name="go-nhooyr", script=_go(_NHOOYR_PACKAGE, _NHOOYR), program=("go",), needs=_NHOOYR_PACKAGE
    ),
    replace(
        _COMPRESSING, name="go-gorilla", script=_go(_GORILLA_PACKAGE, _GORILLA), program=("go",), needs=_GORILLA_PACKAGE
    ),
)


def main(names: Sequence[str]) -> int:
    """Print a line for each client; 1 if one fails."""
    failed = 0
    for client in CLIENTS:
        if names and client.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            said = _run(client, Path(folder))
        print(f"{client.name}: {said}", flush=True)
        failed += not said.startswith(("passes", "skipped"))
    return int(bool(failed))


class Tap:
    """A listener before a server: passes bytes on and keeps those of both directions that follow the handshake.

    Attributes:
        sent, received: bytes after the heads.
        answer: head of the response.
    """

    def __init__(self, target: int) -> None:
        self.sent, self.received, self.answer = bytearray(), bytearray(), b""
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        client, _ = self._listener.accept()
        server = socket.create_connection(("127.0.0.1", self._target))
        head, ahead = _read_head(client)
        server.sendall(re.sub(rb"(?im)^host:[^\r]*", b"Host: 127.0.0.1:%d" % self._target, head) + ahead)
        self.sent += ahead
        sending = threading.Thread(target=self._pump, args=(client, server, self.sent), daemon=True)
        sending.start()
        self.answer, ahead = _read_head(server)
        client.sendall(self.answer + ahead)
        self.received += ahead
        self._pump(server, client, self.received)
        sending.join()
        client.close()
        server.close()

    @staticmethod
    def _pump(source: socket.socket, target: socket.socket, kept: bytearray) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                kept += data
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def _read_head(source: socket.socket) -> tuple[bytes, bytes]:
    held = b""
    while b"\r\n\r\n" not in held:
        held += source.recv(65536)
    head, mark, ahead = held.partition(b"\r\n\r\n")
    return head + mark, ahead


def _prepare(client: RealClient, folder: Path) -> tuple[list[str], str]:
    """The command of a client, and why it is skipped."""
    if not shutil.which(client.program[0]):
        return [], f"{client.program[0]} is not here"
    script = folder / {"node": "loop.js", "go": "main.go"}.get(client.program[0], "loop.py")
    script.write_text(client.script, encoding="utf-8")
    if client.program[0] == "go":
        return [str(folder / "loop")], "" if _build(folder, client.needs) else f"go cannot build with {client.needs}"
    if client.needs:
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), client.needs]
        if not shutil.which("npm") or subprocess.run(words, capture_output=True, check=False).returncode:
            return [], f"npm cannot install {client.needs}"
    return [*client.program, str(script)], ""


def _build(folder: Path, package: str) -> bool:
    """Build a Go program: with a module that is fetched, else with a package that the system has."""
    has = {"GOPATH": "/usr/share/gocode", "GO111MODULE": "off"}
    build = ["go", "build", "-o", "loop", "main.go"]
    ways: tuple[tuple[list[list[str]], dict[str, str]], ...] = (
        ([build], has), ([["go", "mod", "init", "loop"], ["go", "get", package], build], {})
    )  # fmt: skip
    for steps, more in ways:
        env = {"HOME": str(Path.home()), **os.environ, **more}
        if all(not subprocess.run(s, cwd=folder, env=env, capture_output=True, check=False).returncode for s in steps):
            return True
    return False


def _run(client: RealClient, folder: Path) -> str:
    """One loop of a client without the recorder, and one with it: what came of it, in a line."""
    words, why = _prepare(client, folder)
    if why:
        return f"skipped: {why}"
    plain = "" if client.has_tls else _direct(client, words)
    with serve(Simulator(client.contract)) as server:
        behind = Tap(server.port)
        done, before = _recorded(
            client, words, folder, server.url if client.has_tls else f"http://127.0.0.1:{behind.port}"
        )
    if done.returncode or "a b" not in done.stdout:
        return f"FAILS: {done.returncode}, {done.stdout[-200:]!r}, {done.stderr.strip()[-300:]!r}"
    if not client.has_tls and done.stdout != plain:
        return f"FAILS: prints {done.stdout!r} with the recorder, {plain!r} without it"
    if before and (before.sent, before.received, before.answer) != (behind.sent, behind.received, behind.answer):
        return (
            f"FAILS: {len(before.sent)}, {len(before.received)} bytes became {len(behind.sent)}, {len(behind.received)}"
        )
    if client.compresses is not (b"permessage-deflate" in behind.answer):
        return f"FAILS: the handshake was answered with {behind.answer!r}"
    return _judge(client, folder / "out.wb", before)


def _direct(client: RealClient, words: list[str]) -> str:
    """What the client prints without a recorder."""
    with serve(Simulator(client.contract)) as server:
        env = {**os.environ, "OPENAI_BASE_URL": server.url + client.path}
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, env=env).stdout


def _recorded(
    client: RealClient, words: list[str], folder: Path, upstream: str
) -> tuple[subprocess.CompletedProcess[str], Tap | None]:
    """The client with a recorder, and what passed between the two."""
    before = None
    options = [*client.options, "--upstream", f"{client.upstream}={upstream}{client.path}"]
    if not client.has_tls:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        before = Tap(port)
        options += ["--port", str(port)]
        words = ["env", f"OPENAI_BASE_URL=http://127.0.0.1:{before.port}", *words]
    record = [sys.executable, "-m", "workbench", "record", *options, "--out", str(folder / "out.wb"), "--", *words]
    env = {**os.environ, "XDG_STATE_HOME": str(folder)}
    done = subprocess.run(record, capture_output=True, text=True, check=False, timeout=120, env=env)
    return done, before


def _judge(client: RealClient, out: Path, before: Tap | None) -> str:
    """What the recording is like."""
    if problems := fsck(out).problems:
        return f"FAILS: {problems[0]}"
    inspector = Inspector(open_session(out)).run()
    kinds = [row.summary.kind for row in inspector.rows]
    found = [finding.rule for finding in inspector.findings if finding.severity.value != "info"]
    known = {str(row.provider).partition(":")[0] for row in inspector.rows[1:]}
    if found or kinds.count(ExchangeKind.WEBSOCKET) != 1 or len(kinds) != 3 or known != {client.contract}:
        return f"FAILS: {len(kinds)} exchanges of {known}, findings {found}"
    frames = len(open_session(out).exchange(0).frames)
    how = f" with {extension.decode()}" if before and (extension := _extension(before.answer)) else ""
    same = f"; {len(before.sent) + len(before.received):,} bytes and the output are the same" if before else ""
    return f"passes: 2 turns in {frames} messages{how}{same}, nothing found"


def _extension(answer: bytes) -> bytes:
    found = re.search(rb"(?im)^sec-websocket-extensions: *([^\r]*)", answer)
    return found[1] if found else b""
