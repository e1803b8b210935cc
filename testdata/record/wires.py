"""Writes one reply in each of the four wire formats the clients speak.

A reply is a `Reply`; a writer returns (content type, bytes). Numbers of tokens are invented from the lengths of the
texts (a token per four characters), so they are plausible and the same in every run.
"""

import json
from dataclasses import dataclass, field

MODEL = "scripted"


@dataclass
class Call:
    """One tool call; `arguments` is a dict, or a string for a free-form tool."""

    id: str
    name: str
    arguments: object
    namespace: str | None = None

    def arguments_text(self):
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass
class Reply:
    """What the scripted model says: text, calls, or both; `number` counts replies from 1."""

    number: int
    text: str
    calls: list[Call] = field(default_factory=list)
    input_tokens: int = 0

    def output_tokens(self):
        size = len(self.text) + sum(len(call.name) + len(call.arguments_text()) for call in self.calls)
        return size // 4 + 1


def _sse(events):
    """Events are (name or None, data); data is a dict or text."""
    out = []
    for name, data in events:
        if name:
            out.append(f"event: {name}\n")
        out.append(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
    return "text/event-stream", "".join(out).encode()


def _as_json(data):
    return "application/json", json.dumps(data).encode()


# Anthropic Messages


def _anthropic_blocks(reply):
    blocks = [{"type": "text", "text": reply.text}] if reply.text else []
    for call in reply.calls:
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
    return blocks


def _anthropic_message(reply, content, stop):
    return {
        "id": f"msg_{reply.number:04}",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": reply.input_tokens, "output_tokens": reply.output_tokens()},
    }


def _anthropic_block_events(index, block):
    if block["type"] == "text":
        start = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        start = block | {"input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield "content_block_start", {"index": index, "content_block": start}
    yield "content_block_delta", {"index": index, "delta": delta}
    yield "content_block_stop", {"index": index}


def anthropic(reply, request):
    stop = "tool_use" if reply.calls else "end_turn"
    blocks = _anthropic_blocks(reply)
    if not request.get("stream"):
        return _as_json(_anthropic_message(reply, blocks, stop))
    events = [("message_start", {"message": _anthropic_message(reply, [], None)})]
    for index, block in enumerate(blocks):
        events += _anthropic_block_events(index, block)
    delta = {"stop_reason": stop, "stop_sequence": None}
    events.append(("message_delta", {"delta": delta, "usage": {"output_tokens": reply.output_tokens()}}))
    events.append(("message_stop", {}))
    return _sse([(name, {"type": name} | data) for name, data in events])


# OpenAI Responses


def _responses_items(reply):
    items = []
    if reply.text:
        items.append({
            "type": "message",
            "id": f"msg_{reply.number:04}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
        })
    for call in reply.calls:
        item = {"id": f"item_{call.id}", "call_id": call.id, "name": call.name, "status": "completed"}
        if call.namespace:
            item["namespace"] = call.namespace
        if isinstance(call.arguments, str):
            item |= {"type": "custom_tool_call", "input": call.arguments}
        else:
            item |= {"type": "function_call", "arguments": json.dumps(call.arguments)}
        items.append(item)
    return items


def _responses_item_events(index, item):
    """The events of one item, in the order and with the parts the real server sends."""
    place = {"output_index": index, "item_id": item["id"]}
    if item["type"] == "message":
        part = item["content"][0]
        empty = item | {"status": "in_progress", "content": []}
        inner = place | {"content_index": 0}
        steps = [
            ("response.content_part.added", inner | {"part": part | {"text": ""}}),
            ("response.output_text.delta", inner | {"delta": part["text"], "logprobs": []}),
            ("response.output_text.done", inner | {"text": part["text"], "logprobs": []}),
            ("response.content_part.done", inner | {"part": part}),
        ]
    else:
        kind, field = {
            "function_call": ("function_call_arguments", "arguments"),
            "custom_tool_call": ("custom_tool_call_input", "input"),
        }[item["type"]]
        empty = item | {"status": "in_progress", field: ""}
        steps = [
            (f"response.{kind}.delta", place | {"delta": item[field]}),
            (f"response.{kind}.done", place | {field: item[field]}),
        ]
    yield "response.output_item.added", {"output_index": index, "item": empty}
    yield from steps
    yield "response.output_item.done", {"output_index": index, "item": item}


def responses(reply, request):
    items = _responses_items(reply)
    body = {"id": f"resp_{reply.number:04}", "object": "response", "model": MODEL, "output": items}
    count = reply.output_tokens()
    usage = {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": count,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + count,
    }
    done = body | {"status": "completed", "usage": usage}
    if not request.get("stream"):
        return _as_json(done)
    events = [("response.created", {"response": body | {"status": "in_progress", "output": []}})]
    for index, item in enumerate(items):
        events += _responses_item_events(index, item)
    events.append(("response.completed", {"response": done}))
    return _sse([(name, {"type": name, "sequence_number": n} | data) for n, (name, data) in enumerate(events)])


# OpenAI chat completions


def _chat_calls(reply):
    return [
        {"index": index, "id": call.id, "type": "function",
         "function": {"name": call.name, "arguments": call.arguments_text()}}
        for index, call in enumerate(reply.calls)
    ]


def chat(reply, request):
    finish = "tool_calls" if reply.calls else "stop"
    count = reply.output_tokens()
    usage = {
        "prompt_tokens": reply.input_tokens,
        "completion_tokens": count,
        "total_tokens": reply.input_tokens + count,
    }
    head = {"id": f"chatcmpl-{reply.number:04}", "created": 0, "model": MODEL}
    message = {"role": "assistant", "content": reply.text or None}
    calls = _chat_calls(reply)
    if not request.get("stream"):
        if calls:
            message["tool_calls"] = [{k: v for k, v in call.items() if k != "index"} for call in calls]
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return _as_json(head | {"object": "chat.completion", "choices": [choice], "usage": usage})
    deltas = [({"role": "assistant", "content": reply.text}, None)]
    deltas += [({"tool_calls": [call]}, None) for call in calls]
    deltas.append(({}, finish))
    head["object"] = "chat.completion.chunk"
    events = [
        (None, head | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        for delta, reason in deltas
    ]
    events.append((None, head | {"choices": [], "usage": usage}))
    events.append((None, "[DONE]"))
    return _sse(events)


# Gemini generateContent


def gemini(reply, stream):
    parts = [{"text": reply.text}] if reply.text else []
    parts += [{"functionCall": {"name": call.name, "args": call.arguments}} for call in reply.calls]
    count = reply.output_tokens()
    body = {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": reply.input_tokens,
            "candidatesTokenCount": count,
            "totalTokenCount": reply.input_tokens + count,
        },
        "modelVersion": MODEL,
        "responseId": f"resp-{reply.number:04}",
    }
    return _sse([(None, body)]) if stream else _as_json(body)
