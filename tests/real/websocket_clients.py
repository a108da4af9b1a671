"""Real clients of WebSocket APIs through the recorder, each against a strict simulator.

The official SDKs of OpenAI (Realtime and Responses, synchronous and asynchronous) and Google (Live, which accepts
nothing but TLS), and ``ws`` of Node with compression, where npm can install it. Each drives one tool loop; it passes if
the loop ends with the result, the recording verifies, holds the turns, and nothing is found in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
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
        needs: package of npm; empty if none.
    """

    name: str
    upstream: str
    contract: str
    path: str
    script: str
    program: tuple[str, ...] = (sys.executable, "-W", "ignore")
    options: tuple[str, ...] = ()
    needs: str = ""


_OPENAI = RealClient("", "openai", "openai", "/v1", "")
CLIENTS = (
    replace(_OPENAI, name="openai-realtime-sync", contract="openai-realtime", script=_synchronous(_REALTIME)),
    replace(_OPENAI, name="openai-realtime-async", contract="openai-realtime", script=_asynchronous(_REALTIME)),
    replace(_OPENAI, name="openai-responses-sync", script=_synchronous(_RESPONSES)),
    replace(_OPENAI, name="openai-responses-async", script=_asynchronous(_RESPONSES)),
    RealClient("google-genai-live", "gemini", "gemini-live", "", _LIVE, options=("--tls-listen",)),
    replace(_OPENAI, name="node-ws", script=_NODE, program=("node",), needs="ws"),
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


def _run(client: RealClient, folder: Path) -> str:
    """One loop of a client: what came of it, in a line."""
    if not shutil.which(client.program[0]):
        return f"skipped: {client.program[0]} is not here"
    if client.needs:
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), client.needs]
        if not shutil.which("npm") or subprocess.run(words, capture_output=True, check=False).returncode:
            return f"skipped: npm cannot install {client.needs}"
    script, out = folder / ("loop.js" if client.needs else "loop.py"), folder / "out.wb"
    script.write_text(client.script, encoding="utf-8")
    with serve(Simulator(client.contract)) as server:
        upstream = f"{client.upstream}={server.url}{client.path}"
        words = [sys.executable, "-m", "workbench", "record", *client.options, "--upstream", upstream]
        done = subprocess.run(
            [*words, "--out", str(out), "--", *client.program, str(script)],
            capture_output=True, text=True, check=False, timeout=120, env={**os.environ, "XDG_STATE_HOME": str(folder)},
        )  # fmt: skip
    if done.returncode or "a b" not in done.stdout:
        return f"FAILS: {done.returncode}, {done.stdout[-200:]!r}, {done.stderr.strip()[-300:]!r}"
    if problems := fsck(out).problems:
        return f"FAILS: {problems[0]}"
    inspector = Inspector(open_session(out), provider=client.contract).run()
    kinds = [row.summary.kind for row in inspector.rows]
    found = [finding.rule for finding in inspector.findings if finding.severity.value != "info"]
    if found or kinds.count(ExchangeKind.WEBSOCKET) != 1 or len(kinds) != 3:
        return f"FAILS: {len(kinds)} exchanges, findings {found}"
    frames = len(open_session(out).exchange(0).frames)
    return f"passes: 2 turns in {frames} messages, nothing found"
