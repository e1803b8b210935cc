#!/usr/bin/env python3
"""A scripted model server on loopback: plays a scenario file to a coding client.

Usage: server.py --client CLIENT --scenario FILE --root WORKSPACE --port-file FILE [--runs N] [--log FILE]
                 [--exchanges FILE]

It speaks Anthropic Messages, OpenAI Responses, OpenAI chat completions and Gemini generateContent, each streamed or
not, whatever path prefix comes before. Every request that is a turn of the agent gets the next turn of the scenario.
A request repeated byte for byte (a retry) gets the same turn again; side requests (titles, summaries, judges: no tools
or a JSON schema for the answer) get a short fixed answer and do not move the scenario on.

With `--runs 2` two clients play the scenario at the same time: each new conversation begins the scenario anew, and
its texts begin with a mark by which later requests of it are known.

The port is chosen by the system and written to the port file. `--log` keeps every request, `--exchanges` the digests of
every request and its answer, one JSON object a line.
"""

import argparse
import hashlib
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import tools
import wires

# A client that has not ended by then is in a loop of its own.
MAX_REQUESTS = 200
MAX_BODY = 32 * 1024 * 1024


def offered_tools(node):
    """Returns {tool name: namespace or None} of all tools the request offers, wherever the client puts them."""
    found = {}
    lists = list(node.get("tools") or [])
    for item in node.get("input") or []:
        if isinstance(item, dict) and item.get("type") == "additional_tools":
            lists += item.get("tools") or []
    for tool in lists:
        if tool.get("type") == "namespace":
            found |= {inner.get("name"): tool.get("name") for inner in tool.get("tools") or []}
        elif "functionDeclarations" in tool:
            found |= {inner.get("name"): None for inner in tool["functionDeclarations"]}
        else:
            found[tool.get("name") or (tool.get("function") or {}).get("name")] = None
    return found


def wants_schema(request):
    """Whether the answer must follow a JSON schema, as in titles and judges."""
    settings = request.get("generationConfig") or {}
    return bool(
        request.get("response_format")
        or settings.get("responseJsonSchema")
        or settings.get("responseSchema")
        or (request.get("output_config") or {}).get("format")
        or (request.get("text") or {}).get("format", {}).get("type") == "json_schema"
    )


def is_side(request):
    """Whether the request is no turn of the agent."""
    return not offered_tools(request) or wants_schema(request)


class Script:
    """The scenario and how far it has been played."""

    def __init__(self, client, scenario, root, mark=""):
        self.client = client
        self.turns = scenario["turns"]
        self.root = root
        self.mark = mark
        self.played = 0
        self.calls = 0
        self.replies = {}
        self.lock = threading.Lock()

    def reply(self, request, raw):
        """Returns the reply to a request; the same bytes get the same reply."""
        key = hashlib.sha256(raw).digest()
        with self.lock:
            if key in self.replies:
                return self.replies[key]
            if is_side(request):
                return self._side_reply(request)
            reply = self._next_reply(offered_tools(request))
            reply.input_tokens = len(raw) // 4
            self.replies[key] = reply
            return reply

    def _side_reply(self, request):
        text = "{}" if wants_schema(request) else "Work on the basket package"
        return wires.Reply(number=9000 + self.played, text=text, input_tokens=100)

    def _next_reply(self, offered):
        self.played += 1
        if self.played > len(self.turns):
            return self._closing_reply("That is all.")
        turn = self.turns[self.played - 1]
        text = turn.get("text", "")
        text = self.mark + text if text else ""
        if not turn.get("calls"):
            return wires.Reply(self.played, text) if turn.get("plain") else self._closing_reply(text)
        calls = [self._call(*tools.map_call(self.client, call, self.root), offered) for call in turn["calls"]]
        return wires.Reply(self.played, text, calls)

    def _closing_reply(self, text):
        closing = tools.closing_call(self.client, text)
        if closing is None:
            return wires.Reply(self.played, text)
        return wires.Reply(self.played, text, [self._call(*closing, {})])

    def _call(self, name, arguments, offered):
        self.calls += 1
        if offered and name not in offered:
            print(f"server: the client does not offer {name}: {sorted(map(str, offered))}", file=sys.stderr)
        prefix = "toolu" if self.client == "claude-code" else "call"
        if self.mark:
            prefix += f"_{self.mark.strip()}"
        return wires.Call(f"{prefix}_{self.calls:04}", name, arguments, offered.get(name))


class Runs:
    """Scripts of clients that play at the same time, told apart by the marks in their conversations."""

    def __init__(self, client, scenario, root, count):
        self.scripts = [Script(client, scenario, root, f"run{n} ") for n in range(1, count + 1)]
        self.begun = 0
        self.lock = threading.Lock()

    def reply(self, request, raw):
        """Returns the reply to a request; a conversation without a mark is one that begins."""
        return self._script(request, raw).reply(request, raw)

    def _script(self, request, raw):
        for script in self.scripts:
            if script.mark.encode() in raw:
                return script
        if is_side(request):
            return self.scripts[0]
        with self.lock:
            if self.begun == len(self.scripts):
                print("server: a conversation too many began", file=sys.stderr)
            self.begun += 1
            return self.scripts[min(self.begun, len(self.scripts)) - 1]


class Handler(BaseHTTPRequestHandler):
    """One request of the client."""

    protocol_version = "HTTP/1.1"
    # What a client waits for is not held back until its last packet was acknowledged.
    disable_nagle_algorithm = True
    raw = b""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self._send(200, "application/json", b'{"object": "list", "data": [], "models": []}')

    def do_HEAD(self):
        self._send(200, "application/json", b"")

    def do_POST(self):
        size = int(self.headers.get("content-length") or 0)
        raw = self.raw = self.rfile.read(min(size, MAX_BODY))
        try:
            request = json.loads(raw)
        except ValueError:
            request = None
        if not isinstance(request, dict):
            self._send(400, "application/json", b'{"error": {"message": "the body is not a JSON object"}}')
            return
        if not self.server.admit(self.path, request):
            self._send(404, "application/json", b'{"error": {"message": "too many requests for one scenario"}}')
            return
        self._answer(request, raw)

    def _answer(self, request, raw):
        path = self.path.split("?")[0]
        script = self.server.script
        if path.endswith("/messages"):
            answer = wires.anthropic(script.reply(request, raw), request)
        elif path.endswith("/responses"):
            answer = wires.responses(script.reply(request, raw), request)
        elif path.endswith("/chat/completions"):
            answer = wires.chat(script.reply(request, raw), request)
        elif path.endswith("generateContent") or path.endswith("GenerateContent"):
            answer = wires.gemini(script.reply(request, raw), "stream" in path)
        elif path.lower().endswith(("counttokens", "count_tokens")):
            answer = "application/json", json.dumps({"totalTokens": 100, "input_tokens": 100}).encode()
        else:
            self._send(404, "application/json", b'{"error": {"message": "no such path"}}')
            return
        self._send(200, *answer)

    def _send(self, status, kind, body):
        self.server.note(self.path, self.raw, body)
        self.raw = b""
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """Listens on loopback only."""

    daemon_threads = True

    def __init__(self, script, log, exchanges):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.log = log
        self.exchanges = exchanges
        self.seen = 0
        self.lock = threading.Lock()

    def admit(self, path, request):
        """Counts and logs a request; False once there were too many."""
        with self.lock:
            self.seen += 1
            if self.log:
                self.log.write(json.dumps({"path": path, "body": request}) + "\n")
                self.log.flush()
            return self.seen <= MAX_REQUESTS

    def note(self, path, request, answer):
        """Keeps the digests of an exchange."""
        if self.exchanges:
            digests = {"request": hashlib.sha256(request).hexdigest(), "answer": hashlib.sha256(answer).hexdigest()}
            with self.lock:
                self.exchanges.write(json.dumps({"path": path} | digests) + "\n")
                self.exchanges.flush()

    def handle_error(self, request, client_address):
        error = sys.exc_info()[1]
        # Clients hang up as soon as they have read the last event.
        if not isinstance(error, ConnectionError):
            print(f"server: {error!r}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description="Play a scenario to a coding client, on loopback.")
    parser.add_argument("--client", required=True, choices=tools.CLIENTS)
    parser.add_argument("--scenario", required=True)
    parser.add_argument("--root", required=True, help="absolute path of the workspace")
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--runs", type=int, default=1, help="clients that play at the same time")
    parser.add_argument("--log")
    parser.add_argument("--exchanges")
    options = parser.parse_args()
    with open(options.scenario) as file:
        scenario = json.load(file)
    log = open(options.log, "w") if options.log else None
    exchanges = open(options.exchanges, "w") if options.exchanges else None
    played = options.client, scenario, options.root
    script = Runs(*played, options.runs) if options.runs > 1 else Script(*played)
    server = Server(script, log, exchanges)
    with open(options.port_file + ".new", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(options.port_file + ".new", options.port_file)
    server.serve_forever()


if __name__ == "__main__":
    main()
