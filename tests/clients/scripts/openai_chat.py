"""OpenAI's SDK, Chat Completions: the loop of its guide to function calling."""

import json

from openai import OpenAI

from shell import DESCRIPTION, INSTRUCTIONS, MAX_TURNS, MODEL, PARAMETERS, PROMPT, STREAM, URL, run_shell

client = OpenAI(base_url=f"{URL}/v1", api_key="none")
function = {"name": "run_shell", "description": DESCRIPTION, "parameters": PARAMETERS, "strict": True}
tools = [{"type": "function", "function": function}]
messages = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": PROMPT}]


def ask():
    if not STREAM:
        answer = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
        return answer.choices[0].message.model_dump(exclude_none=True)
    message = {"role": "assistant", "content": ""}
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(
        model=MODEL, messages=messages, tools=tools, stream=True, stream_options=options
    ):
        for choice in chunk.choices:
            message["content"] += choice.delta.content or ""
            for piece in choice.delta.tool_calls or []:
                calls = message.setdefault("tool_calls", [])
                if piece.index == len(calls):
                    calls.append({"id": piece.id, "type": "function", "function": {"name": "", "arguments": ""}})
                called = calls[piece.index]["function"]
                called["name"] += piece.function.name or ""
                called["arguments"] += piece.function.arguments or ""
    return message


for _ in range(MAX_TURNS):
    message = ask()
    messages.append(message)
    for call in message.get("tool_calls", []):
        output = run_shell(**json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})
    if not message.get("tool_calls"):
        break
else:
    raise SystemExit("nobody ended this")
print(message["content"])
