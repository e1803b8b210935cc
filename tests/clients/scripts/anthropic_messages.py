"""Anthropic's SDK: the loop of its guide to tool use."""

from anthropic import Anthropic

from shell import DESCRIPTION, INSTRUCTIONS, MAX_TURNS, MODEL, PARAMETERS, PROMPT, STREAM, URL, run_shell

client = Anthropic(base_url=URL, api_key="none")
tools = [{"name": "run_shell", "description": DESCRIPTION, "input_schema": PARAMETERS}]
messages = [{"role": "user", "content": PROMPT}]


def ask():
    question = {"model": MODEL, "max_tokens": 4096, "system": INSTRUCTIONS, "messages": messages, "tools": tools}
    if not STREAM:
        return client.messages.create(**question)
    with client.messages.stream(**question) as stream:
        return stream.get_final_message()


for _ in range(MAX_TURNS):
    answer = ask()
    messages.append({"role": "assistant", "content": answer.content})
    results = [
        {"type": "tool_result", "tool_use_id": block.id, "content": run_shell(**block.input)}
        for block in answer.content
        if block.type == "tool_use"
    ]
    if not results:
        break
    messages.append({"role": "user", "content": results})
else:
    raise SystemExit("nobody ended this")
print("".join(block.text for block in answer.content if block.type == "text"))
