"""Answers with a call that a server left in the text, in the shapes that users of servers report.

Shapes: vllm-project/vllm #21571, #39468, #11786, #46863, #22917; ollama/ollama #13519; sgl-project/sglang #30480,
#30925; ggml-org/llama.cpp #20761, #22786; lmstudio-ai/lmstudio-bug-tracker #2115, #1979, #1177; openclaw/openclaw
#66178; jundot/omlx #3429; sipeed/picoclaw #2104; sgl-project/sglang #14866; chat templates of the models.
"""

from __future__ import annotations

from tests.toolcalls.formats.innocent import MARK

CITY = '{"city": "Rome"}'
CALL = '{"name": "get_weather", "arguments": {"city": "Rome"}}'
PARAMETERS = '{"name": "get_weather", "parameters": {"city": "Rome"}}'
QWEN = "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>"
INVOKE = '<invoke name="get_weather">\n<parameter name="city">Rome</parameter>\n</invoke>'
DSML = (
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Rome'
    "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
)
GLM = "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Rome</arg_value></tool_call>"
KIMI = "<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>" + CITY + "<|tool_call_end|>"
HARMONY = "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>" + CITY + "<|call|>"

CALLS = {
    "native Qwen3-Coder": QWEN,
    "native Qwen3-Coder after prose": f"Let me check the weather.\n\n{QWEN}",
    "Qwen3-Coder, closers left out": "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</tool_call>",
    "Qwen3-Coder, opener left out": QWEN.removeprefix("<tool_call>\n"),
    "Qwen3-Coder behind a full stop in Chinese": f"我来查一下。{QWEN}",
    "Qwen3-Coder, cut": QWEN[:50],
    "Qwen3-Coder twice": f"{QWEN}\n{QWEN}",
    "Qwen3-Coder behind the end of reasoning": f"I should look.</think>\n\n{QWEN}",
    "Qwen3-Coder and an end token": f"{QWEN}<|im_end|>",
    "Hermes": f"<tool_call>\n{CALL}\n</tool_call>",
    "Hermes after prose": f"I will check.\n<tool_call>\n{CALL}\n</tool_call>",
    "Hermes, cut": f"I will check.\n<tool_call>\n{CALL[:-6]}",
    "Hermes, one brace too many": f"<tool_call>\n{CALL}}}\n</tool_call>",
    "Hermes, single quotes": "<tool_call>\n{'name': 'get_weather', 'arguments': {'city': 'Rome'}}\n</tool_call>",
    "Hermes, parameters": f"<tool_call>\n{PARAMETERS}\n</tool_call>",
    "Hermes, an array": f"<tool_call>[{CALL}]</tool_call>",
    "Hermes, not closed": f"Checking now.\n\n<tool_call>\n{CALL}",
    "GLM": GLM,
    "GLM with line breaks": GLM.replace("<arg", "\n<arg"),
    "GLM behind words in Chinese": f"好的，我来查询：\n{GLM}",
    "GLM, cut": GLM[:70],
    "MiniMax M2": f"<minimax:tool_call>\n{INVOKE}\n</minimax:tool_call>",
    "MiniMax M2 without its end": f"<minimax:tool_call>\n{INVOKE}",
    "MiniMax M3": (
        f'{MARK}<tool_call>\n{MARK}<invoke name="get_weather">{MARK}<city>Rome{MARK}</city>{MARK}</invoke>\n'
        f"{MARK}</tool_call>"
    ),
    "Claude-like": f"<function_calls>\n{INVOKE}\n</function_calls>",
    "Claude-like, bare": f"call\n{INVOKE}",
    "Claude-like, prefix": f"<function_calls>\n{INVOKE}\n</function_calls>".replace("<", "<").replace("</", "</"),
    "Claude-like after prose": f"I'll look that up for you.\n\n<function_calls>\n{INVOKE}\n</function_calls>",
    "DSML": DSML,
    "DSML of a reseller": DSML.replace("｜", "|"),
    "DSML with doubled bars": DSML.replace("｜", "｜｜"),
    "DSML after prose": f"Ich sehe nach.\n\n{DSML}",
    "DSML, cut": DSML[:-40],
    "DeepSeek V3.1": (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{CITY}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "DeepSeek V3": (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
        f"{CITY}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "DeepSeek with plain bars": f"<|tool_call_begin|>get_weather<|tool_sep|>{CITY}<|tool_call_end|>",
    "Kimi": f"<|tool_calls_section_begin|>{KIMI}<|tool_calls_section_end|>",
    "Kimi without its section": KIMI,
    "Harmony": HARMONY,
    "Harmony with its start": f"<|start|>assistant{HARMONY}",
    "Mistral, array": f"[TOOL_CALLS][{CALL}]",
    "Mistral, arguments": f"[TOOL_CALLS]get_weather[ARGS]{CITY}",
    "Mistral after prose": f"I'll check.[TOOL_CALLS]get_weather[ARGS]{CITY}",
    "Llama, tag": f"<|python_tag|>{PARAMETERS}",
    "Llama, bare": PARAMETERS,
    "Llama, bare, with its type": '{"type": "function", "name": "get_weather", "parameters": {"city": "Rome"}}',
    "Llama, bare, the chat protocol's shape": (
        '{"type": "function", "function": {"name": "get_weather", "parameters": {"city": "Rome"}}}'
    ),
    "Llama, bare, a brace short": (
        '{"type": "function", "function": {"name": "get_weather", "parameters": {"city": "Rome"}}'
    ),
    "bare, two": f"{CALL} {CALL}",
    "bare, line breaks": '{\n  "name": "get_weather",\n  "arguments": {\n    "city": "Rome"\n  }\n}',
    "in a fence": f"```json\n{PARAMETERS}\n```",
    "in a fence after prose": f"I'll check the weather.\n\n```json\n{CALL}\n```",
    "pythonic": '[get_weather(city="Rome")]',
    "pythonic after prose": 'To find out I will call the tool.\n\n[get_weather(city="Rome")]',
    "bare after a sentence": f"The weather decides it.\n\n{CALL}",
    "bare after what is intended": f"Let me check this: \n\n{PARAMETERS}",
    "bare, in the shape of the chat protocol, after prose": (
        f'I need the weather.\n\n{{"function": {{"name": "get_weather", "arguments": {CITY}}}}}'
    ),
    "a Python call after a sentence": 'The weather decides it.\n\nget_weather(city="Rome")',
    "LFM2": '<|tool_call_start|>[get_weather(city="Rome")]<|tool_call_end|>',
    "Llama 4 with its tags": '<|python_start|>[get_weather(city="Rome")]<|python_end|>',
    "in tags of another model": f"<tools>\n{CALL}\n</tools>",
    "in tags in capitals": f"<TOOLCALL>[{CALL}]</TOOLCALL>",
    "in a list of calls": f"<tool_calls>\n[{CALL}]\n</tool_calls>",
    "in Phi's tokens": f"<|tool_call|>[{CALL}]<|/tool_call|>",
    "in Granite's token": f"<|tool_call|>[{CALL}]",
    "in InternLM's tokens": f"<|action_start|><|plugin|>\n{PARAMETERS}<|action_end|>",
    "in Cohere's tokens": (
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Rome"}}]'
        "<|END_ACTION|>"
    ),
    "in brackets of a server": f"[TOOL_REQUEST]{CALL}[END_TOOL_REQUEST]",
    "in brackets of a server after prose": f"Sure.\n\n[TOOL_REQUEST]\n{CALL}\n[END_TOOL_REQUEST]",
    "in brackets of another model": '[TOOL_CALL] {"tool": "get_weather", "args": {"city": "Rome"}} [/TOOL_CALL]',
    "Seed": QWEN.replace("tool_call>", "seed:tool_call>"),
    "a line of arguments behind its name": f"functions.get_weather:0{CITY}",
    "a name and its arguments": f"get_weather{CITY}",
    "a header without its tokens": f"commentary to=functions.get_weather json{CITY}",
    "a step of ReAct as one object": (
        '{"thought": "The weather decides it.", "action": "get_weather", "action_input": {"city": "Rome"}}'
    ),
    "a step of ReAct in another key": '{"tool_call": {"action": "get_weather", "action_input": {"city": "Rome"}}}',
    "channels without their tokens": (
        f"analysisWe need the weather.assistantcommentary to=functions.get_weather json{CITY}"
    ),
}

MARKERS = {
    "Gemma": '<|tool_call>call:get_weather{city:<|"|>Rome<|"|>}<tool_call|>',
    "Qwen-Agent": f"✿FUNCTION✿: get_weather\n✿ARGS✿: {CITY}\n✿RESULT✿",
    "a name in brackets": f"[get_weather]\n{CITY}\n[END_TOOL_REQUEST]",
    "half a call": "<name>task\n</parameter>\n<parameter=city>\nRome\n</parameter>\n</function>",
    "closers": "I checked it.\n</parameter>\n</function>\n</tool_call>",
    "end of turn": "It is sunny.<|im_end|>\n<|im_start|>user\n",
    "observation": "It is sunny.\n<|observation|>",
    "end of text": "It is sunny.<|endoftext|>",
    "tokens of a header": "It is sunny.<|end|><|start|>assistant<|channel|>final<|message|>",
    "end of a sentence": "晴天。<｜end▁of▁sentence｜>",
    "channels without their tokens": 'analysisThey ask for 2+2. The answer is "four".assistantfinalfour',
    "a marker alone": f"{MARK}</tool_call>",
    "an opener at the end": "Let me look.\n<tool_call>",
}
