"""OpenAI's SDK, Responses: the loop of its guide to function calling, with the conversation kept by the client,
or by the server."""

import json

from openai import OpenAI

from shell import DESCRIPTION, INSTRUCTIONS, KEPT, MAX_TURNS, MODEL, PARAMETERS, PROMPT, STREAM, URL, run_shell

client = OpenAI(base_url=f"{URL}/v1", api_key="none")
tools = [{"type": "function", "name": "run_shell", "description": DESCRIPTION, "parameters": PARAMETERS,
          "strict": True}]
items = [{"role": "user", "content": PROMPT}]
kept = {"store": KEPT}


def ask():
    question = {"model": MODEL, "instructions": INSTRUCTIONS, "input": items, "tools": tools, **kept}
    if not STREAM:
        return client.responses.create(**question)
    with client.responses.stream(**question) as stream:
        for _ in stream:
            pass
        return stream.get_final_response()


for _ in range(MAX_TURNS):
    response = ask()
    if KEPT:
        items, kept["previous_response_id"] = [], response.id
    else:
        # The streaming helper adds fields of its own, which no server takes.
        items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
    calls = [item for item in response.output if item.type == "function_call"]
    for call in calls:
        output = run_shell(**json.loads(call.arguments))
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    if not calls:
        break
else:
    raise SystemExit("nobody ended this")
print(response.output_text)
