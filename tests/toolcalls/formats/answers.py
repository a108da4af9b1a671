"""Answers that call nothing: what coding agents and chats write about tools, markup, data and logs.

The tools that the tests declare are named in them on purpose: ``get_weather`` and ``read``.
"""

from __future__ import annotations

CALL = '{"name": "get_weather", "arguments": {"city": "Rome"}}'
HERMES = f"<tool_call>\n{CALL}\n</tool_call>"
QWEN = "<tool_call>\n<function=read>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>"

EXPLAINING = {
    "how a tool is called": (
        f"To call the tool the model emits this:\n\n```json\n{CALL}\n```\n\nThe server then runs it."
    ),
    "how a tool is called, fence last": f"The request for the weather tool is this object:\n\n```json\n{CALL}\n```",
    "how a tool is called, bare": f"The request for the weather tool is this object:\n\n{CALL}",
    "how a tool is called from Python": 'In Python you write, for example:\n\nget_weather(city="Rome")',
    "a call that does not fit": 'It was called without a city.\n\n{"name": "get_weather", "arguments": {}}',
    "what the log shows": f"The log shows that the model wrote\n\n```\n{HERMES}\n```\n\nso the parser was off.",
    "two fences": f"Qwen2.5 writes\n```xml\n{HERMES}\n```\nand Qwen3-Coder\n```xml\n{QWEN}\n```\nboth in content.",
    "a diff": f"```diff\n-{CALL}\n+{CALL.replace('Rome', 'Paris')}\n```",
    "a diff without a fence": "-<tool_call>\n+<tool-call>\n </tool_call>\n\nOnly the first line changed.",
    "table": (
        "| format | opening | closing |\n|---|---|---|\n| Hermes | `<tool_call>` | `</tool_call>` |\n| GLM | "
        "<tool_call> | </tool_call> |"
    ),
    "list of tags": "* <tool_call> opens\n* </tool_call> closes\n* <arg_key> names a parameter",
    "numbered list of tokens": "1. <|im_start|> begins a turn\n2. <|im_end|> ends it\n",
    "heading": "## <tool_call> blocks\n\nThey hold JSON.",
    "code span": "Look for `<tool_call>` and `</tool_call>`; the parser removes both.",
    "code span of a call": f"It ended with `{CALL}` and nothing ran.",
    "regex": "Use `re.compile(r'<tool_call>(.*?)</tool_call>', re.S)` for that.",
    "regex in a fence": "```python\nPATTERN = re.compile(r'<tool_call>\\s*(\\{.*?\\})\\s*</tool_call>', re.S)\n```",
    "template": (
        "```jinja\n{%- for tool_call in message.tool_calls %}\n<tool_call>\n{{ tool_call | tojson }}\n</tool_call>\n"
        "{%- endfor %}\n```"
    ),
    "template in prose": (
        "The template prints <tool_call>, the call as JSON and </tool_call> for each call in the turn."
    ),
    "schema of a tool": (
        '```json\n{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properti'
        'es": {"city": {"type": "string"}}}}}\n```'
    ),
    "schema of a tool, bare": (
        '{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}'
    ),
    "schema in tags": '<tools>\n{"name": "get_weather", "parameters": {"type": "object", "properties": {}}}\n</tools>',
    "body of a request": (
        f'```json\n{{"model": "m", "messages": [{{"role": "assistant", "tool_calls": [{{"id": "1", "type": "function",'
        f' "function": {CALL}}}]}}]}}\n```'
    ),
    "curl": (
        "```sh\ncurl -d '{\"tools\": [{\"name\": \"get_weather\"}]}' http://localhost:8000/v1/chat/completions\n"
        "```"
    ),
    "log lines": '2026-01-02 INFO tool=get_weather args={"city": "Rome"} took 12 ms\n2026-01-02 INFO done',
    "log in a fence": f"```log\n[INFO] model output: {HERMES}\n[WARN] no parser\n```",
    "log with tags": '12:01 DEBUG content="<tool_call>" held back\n12:02 DEBUG content="</tool_call>" dropped',
    "stack trace": (
        'Traceback (most recent call last):\n  File "a.py", line 3, in read\n    json.loads(text)\nValueError: '
        '<tool_call> is no JSON'
    ),
    "grep": "src/parser.py:12:    OPEN = \"<tool_call>\"\nsrc/parser.py:13:    CLOSE = \"</tool_call>\"",
    "transcript": f"User: what did it say?\nAssistant: it said {HERMES.replace(chr(10), ' ')} and then nothing.",
    "quoted mail": f"> On Monday you wrote:\n> {HERMES.replace(chr(10), chr(10) + '> ')}\n\nThat is the bug.",
    "quotation marks": 'The answer was "<tool_call>{...}</tool_call>" word for word.',
    "Harmony explained": "A message begins with <|start|>, names its channel after <|channel|> and ends with <|end|>.",
    "Harmony in a fence": (
        '```\n<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Rome"}<|call|>\n'
        '```'
    ),
    "recipient explained": (
        "The header says to=functions.get_weather and the body is JSON, as in {\"city\": \"Rome\"} above."
    ),
    "Kimi's ids": "Kimi wants ids such as functions.get_weather:0, counted through the conversation.",
    "Mistral explained": "Mistral puts [TOOL_CALLS] before the name and [ARGS] before the arguments.",
    "LM Studio explained": "LM Studio's default prompt asks for [TOOL_REQUEST] and [END_TOOL_REQUEST] around the JSON.",
    "python tag explained": "Llama 3.1 writes <|python_tag|> before code; the server removes it.",
    "DSML explained": 'DeepSeek V3.2 writes tags such as <｜DSML｜invoke name="get_weather">, with U+FF5C bars.',
    "think explained": "Models put reasoning between <think> and </think>; strip it before you show the answer.",
    "indented sample": (
        "The file holds:\n\n    <tool_call>\n    {\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n    "
        "</tool_call>\n\nNothing else."
    ),
    "details": f"<details>\n<summary>Raw output</summary>\n\n```\n{HERMES}\n```\n\n</details>",
    "nested fences": f"````markdown\n```json\n{CALL}\n```\n````",
    "what not to do": f"Never write\n\n```\n{CALL}\n```\n\nby hand: the SDK does.",
    "a test": f"```python\ndef test_parse():\n    assert parse('''{HERMES}''') == [Call('get_weather')]\n```",
    "a JavaScript test": f"```ts\nexpect(parse(`{HERMES}`)).toHaveLength(1);\n```",
    "YAML": "```yaml\ntools:\n  - name: get_weather\n    arguments: {city: Rome}\n```",
    "YAML without a fence": "tools:\n  - name: get_weather\n    arguments: {city: Rome}",
    "escaped markup": "It prints &lt;tool_call&gt; and &lt;/tool_call&gt; because the page escapes them.",
    "issue title": "[Bug] GLM parser leaks <tool_call> markup into content when tool_choice is none",
    "commit message": "Hold back <tool_call until it is known\n\nA piece may end inside of a tag.",
    "changelog": "- fix: `</tool_call>` no longer stays in content (#123)\n- feat: [TOOL_CALLS] of Mistral is read",
    "question": "Should </tool_call> be removed even when no <tool_call> came before?",
    "two sentences": "I looked at <tool_call>. It is fine.",
}  # fmt: skip

DATA = {
    "JSON with name and arguments": '{"name": "build", "arguments": ["-j", "4"], "cwd": "/src"}',
    "JSON with command": '{"command": "make", "args": ["all"]}',
    "JSON with a tool of a workshop": '{"tool": "hammer", "price": 12}',
    "JSON of an event": '{"name": "click", "parameters": {"x": 1, "y": 2}}',
    "JSON of an event, a list": '[{"name": "click", "parameters": {"x": 1}}, {"name": "move", "parameters": {"x": 2}}]',
    "JSON with a function": '{"function": "sin", "arguments": {"x": 0.5}}',
    "JSON of a job in a fence": '```json\n{"name": "nightly", "input": {"branch": "main"}}\n```',
    "JSON of a person": '{"name": "Ada Lovelace", "input": null}',
    "package.json": '```json\n{\n  "name": "read",\n  "version": "1.0.0",\n  "scripts": {"test": "vitest"}\n}\n```',
    "launch.json": '{"name": "Launch", "type": "node", "args": ["--inspect"], "program": "a.js"}',
    "GitHub action": '{"name": "read", "input": {"path": "a"}, "runs": {"using": "node20"}}',
    "JSON schema": '{"$schema": "x", "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}}}',
    "JSON lines": '{"name": "a", "value": 1}\n{"name": "b", "value": 2}',
    "an MCP configuration": '{"mcpServers": {"read": {"command": "npx", "args": ["-y", "server"]}}}',
    "a result": '{"city": "Rome", "temperature": 21}',
    "OpenAPI": '```json\n{"paths": {"/weather": {"get": {"operationId": "get_weather", "parameters": []}}}}\n```',
    "a list of numbers": "[1, 2, 3]",
    "a list of strings": '["read", "get_weather"]',
    "a list in Python": "[read, get_weather]",
    "a list of calls in a fence": '```python\nresults = [read(path="a"), read(path="b")]\n```',
    "a call in prose": 'Then it runs get_weather(city="Rome") and prints the result.',
    "a list of calls in prose": (
        'The planner made [get_weather(city="Rome"), read(path="a")] out of it, which is right.'
    ),
    "a comprehension": "[f(x=1) for f in functions]",
    "a test of lists": 'assert plan == [get_weather(city="Rome")]\n',
    "code about calls": 'calls = [\n    read(path="a"),\n    read(path="b"),\n]\nrun(calls)\n',
    "a decorator": "@tool\ndef get_weather(city: str) -> str:\n    return lookup(city)\n",
    "a dataclass": 'ToolCall(name="get_weather", arguments={"city": "Rome"})',
    "a REPL": '>>> get_weather(city="Rome")\n{"temp": 21}\n',
    "links": "[read](a.md) and [get_weather](b.md)",
    "a checklist": "- [x] read the file\n- [ ] write the test",
    "footnotes": "It holds[^1].\n\n[^1]: See [read](a).",
    "CSV": "name,arguments\nget_weather,city=Rome\n",
    "INI": "[tool.read]\npath = \"a\"\n\n[tool]\nname = \"x\"\n",
    "TOML": '[[tool.calls]]\nname = "get_weather"\narguments = { city = "Rome" }\n',
    "environment": "TOOL_CALLS=1\nARGS=-v\n",
    "shell": 'read -r path < list.txt && echo "$path" > out.txt',
    "heredoc": "cat <<'EOF' > a.xml\n<function name=\"read\"/>\nEOF\n",
    "make": "all: $(call get_weather,Rome)\n\t@echo done",
    "SQL": "SELECT name, arguments FROM calls WHERE tool < 3 AND id > 2;",
    "math": "For $a < b$ and $b > c$ we have \\[ f(x) = \\{ x \\} \\].",
    "generics": "Function<Tool, Map<String, Parameter>> call = Tool::invoke;",
    "C++": "std::vector<std::function<void(int)>> calls; calls.push_back([](int x) { read(x); });",
    "HTML": '<!doctype html>\n<html><body><parameter name="a">b</parameter></body></html>',
    "HTML form": '<form action="/read"><input name="path" value="a"><button>Go</button></form>',
    "JSX": (
        'export const App = () => (\n  <ToolCall name="read" args={{ path: "a" }}>\n    {children}\n  </ToolCall>\n'
        ');'
    ),
    "JSX closing line": "<ToolCall>\n  <Result />\n</ToolCall>",
    "Vue": '<template>\n  <tool-call :name="name" @done="read" />\n</template>',
    "SVG": '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>',
    "XML": '<?xml version="1.0"?>\n<calls>\n  <call name="read"><arg name="path">a</arg></call>\n</calls>',
    "SOAP": "<soap:Envelope><soap:Body><m:read><m:path>a</m:path></m:read></soap:Body></soap:Envelope>",
    "Maven": (
        "<plugin>\n  <artifactId>read</artifactId>\n  <configuration><function>a</function></configuration>\n"
        "</plugin>"
    ),
    "Ant": '<macrodef name="read"><attribute name="path"/></macrodef>',
    "Spring": '<bean id="read" class="Tool"><property name="path" value="a"/></bean>',
    "XSLT": '<xsl:call-template name="read"><xsl:with-param name="path" select="a"/></xsl:call-template>',
    "Chinese": "工具调用的标签是 <tool_call>，结束标签是 </tool_call>。模型会先输出名称，再输出参数。",
    "Chinese about a call": (
        '例如，模型可以输出：\n<tool_call>\n{"name": "工具名", "arguments": {}}\n</tool_call>\n然后等待结果。'
    ),
    "Chinese without markup": "好的，我来查一下罗马的天气。今天晴，气温二十一度。",
    "Japanese": "ツールは get_weather です。引数は {\"city\": \"ローマ\"} になります。",
    "Korean": "도구 호출은 <tool_call> 태그 안에 JSON으로 씁니다.",
    "Russian": "Модель пишет <tool_call> и </tool_call> вокруг вызова.",
    "emoji": "🔧 get_weather → 🌤️ 21°C",
    "decoration with petals": "✿ Spring ✿ is here ✿",
    "a poem": "I'll read the weather in the leaves,\nlet me call the wind by name.",
    "an intent without a call": "I'll check the weather now.\n\n```sh\ncurl wttr.in/Rome\n```",
    "an intent and code": "Let me show the code.\n\n```python\n[read(path) for path in paths]\n```",
    "an intent and data": (
        'I\'ll use this configuration:\n\n```json\n{"name": "nightly", "input": {"branch": "main"}}\n```'
    ),
    "an intent and a list": "I need to do two things:\n\n[1] read the file\n[2] get the weather",
    "an intent and an example": f"I can show you an example of the format:\n\n```json\n{CALL}\n```",
    "what a call would be": f"I can explain it. A call would look like this:\n\n```json\n{CALL}\n```",
    "what to send": f"Let me know if it works. Send this body:\n\n```json\n{CALL}\n```",
}  # fmt: skip

INNOCENT = {**EXPLAINING, **DATA}
