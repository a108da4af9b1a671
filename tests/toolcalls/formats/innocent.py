"""Texts that hold no call: prose, code, XML, JSON, and talk about tool calls in every dress."""

from __future__ import annotations

MARK = "]<]minimax[>["
HERMES = '<tool_call>\n{"name": "read", "arguments": {"path": "a"}}\n</tool_call>'
QWEN = "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>"
GLM = "<tool_call>read<arg_key>path</arg_key><arg_value>a</arg_value></tool_call>"
INVOKE = '<function_calls>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n</function_calls>'
M2 = '<minimax:tool_call>\n<invoke name="read">\n<parameter name="path">a</parameter>\n</invoke>\n</minimax:tool_call>'
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>"
    '{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>'
)
K3 = (
    '<|open|>tools<|sep|><|open|>call tool="read" index="1"<|sep|><|open|>argument key="path" type="string"<|sep|>a'
    "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
)
M3 = f'{MARK}<tool_call>\n{MARK}<invoke name="read">{MARK}<path>a{MARK}</path>{MARK}</invoke>\n{MARK}</tool_call>'
NATIVE = {
    "hermes": HERMES, "qwen3-coder": QWEN, "glm": GLM, "claude-xml": INVOKE, "minimax": M2, "kimi": KIMI,
    "kimi-k3": K3, "minimax-m3": M3,
}  # fmt: skip

PLAIN = {
    "prose": "I read the file. It has 3 < 5 lines and a > b. Shall I go on?",
    "empty": "",
    "markdown": "# Title\n\n* one\n* two `code`\n\n> quote\n\n| a | b |\n| - | - |\n| 1 | 2 |\n",
    "python": "```python\ndef read(path):\n    return open(path).read()  # <function read>\n```\nThat is all.",
    "python unfenced": "def call(tool):\n    return [f(a=1) for f in tool if x < 3 and y > 2]\n",
    "generics": "Use `Map<String, List<Integer>>` or Vec<Option<T>>; std::function<void()> too.",
    "HTML": "<html><body><p class='a'>Hi</p><function>no</function></body></html>",
    "HTML parameters": '<object><param name="x" value="1"><parameter name="y">2</parameter></object>',
    "ant build": '<project><target name="a"><invoke method="b"/><parameter name="c" value="d"/></target></project>',
    "XML-RPC": "<methodCall><methodName>read</methodName><params><param>1</param></params></methodCall>",
    "log4j": '<Appender>\n<parameter name="file">a.log</parameter>\n</Appender>',
    "JSON answer": '{"name": "Ada", "arguments_for": ["x"], "age": 36}',
    "JSON answer with a name only": '{"name": "read"}',
    "JSON list": "[1, 2, 3]",
    "JSON of people": '[{"name": "read"}, {"name": "ping"}]',
    "JSON schema": '{"type": "object", "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}}}',
    "fenced JSON": '```json\n{"name": "x", "value": 2}\n```',
    "list of links": "[docs](https://example.org/a) and [TOOLS](b), see [1]",
    "LaTeX": r"$f(x) = \langle a, b \rangle$ and \[ x < y \]",
    "shell": "Run `cat <<EOF >out` and then:\n\n    $ read -r line < file\n",
    "diff": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<tool_cal>\n+<tool_caller>\n",
    "thinking": "<think>Let me see.</think>\nIt is 4.",
    "emoji and CJK": "好的，我来看看。🙂 <注意> 没有工具。",
    "a pipe table of tokens": "| token | meaning |\n|---|---|\n| <|im_start|> | begins a turn |\n",
    "tags that look alike": "<tool-call>x</tool-call> <toolcall/> <tool_calls> </tools> <function>f</function>",
}

ABOUT = {
    "words": "A <tool_call> tag opens a call, and </tool_call> closes it.",
    "names with dots": 'Write <tool_call>{"name": "...", "arguments": {...}}</tool_call> to call a tool.',
    "template of Qwen": (
        "For each function call, return a json object within <tool_call></tool_call> XML tags:\n"
        '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
    ),
    "template of Qwen3-Coder": (
        "If you choose to call a function ONLY reply in the following format with NO suffix:\n\n"
        "<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
        "<parameter=example_parameter_2>\nThis is the value\n</parameter>\n</function>\n</tool_call>\n\nReminder: ..."
    ),
    "template of the invoke kind": (
        'You can invoke functions by writing a block like this:\n<function_calls>\n<invoke name="$FUNCTION_NAME">\n'
        '<parameter name="$PARAMETER_NAME">$PARAMETER_VALUE</parameter>\n</invoke>\n</function_calls>\nThen wait.'
    ),
    "template of GLM": (
        "output the function name and arguments within the following XML format:\n<tool_call>{function-name}\n"
        "<arg_key>{arg-key-1}</arg_key>\n<arg_value>{arg-value-1}</arg_value>\n</tool_call>"
    ),
    "special tokens in a sentence": "Kimi writes <|tool_calls_section_begin|> first, then <|tool_call_begin|>.",
    "marker in a sentence": f"MiniMax M3 puts {MARK} before <tool_call> tags.",
    "Harmony in a sentence": "Harmony marks turns with <|start|> and <|channel|> tokens, closed by <|end|> later.",
    "Mistral in a sentence": "Mistral models begin with [TOOL_CALLS] when they want a tool.",
    "DSML in a sentence": 'The tag <｜DSML｜invoke name="x"> opens a call in DeepSeek\'s markup.',
}


def dressed(text: str) -> dict[str, str]:
    """A call as people show one."""
    one_line = text.replace("\n", "")
    return {
        "in a fence": f"It looks so:\n\n```xml\n{text}\n```\n\nNothing else.",
        "in a fence without a language": f"```\n{text}\n```",
        "in an open fence": f"Here:\n```\n{text}",
        "in tildes": f"~~~~\n{text}\n~~~~",
        "in backticks": f"The model wrote `{one_line}` and stopped.",
        "in double backticks": f"``{one_line}``",
        "for example": f"For example:\n\n{text}\n\nThis reads a file.",
        "such as": f"The model writes calls such as\n{text}\nand waits for the result.",
        "in a sentence": f"When you write {one_line} the server runs the tool.",
        "quoted": "> " + text.replace("\n", "\n> ") + "\n\nThat was the message.",
        "in a list": f"1. {one_line} reads\n2. nothing else",
        "in quotes": f'He said "{one_line}" and left.',
        "indented": "The syntax is\n\n    " + text.replace("\n", "\n    ") + "\n\nas above.",
    }
