#!/usr/bin/env python3
"""Makes a transcript fit to ship: no text of the client's makers, no trace of the recording machine.

Usage: normalise.py --client CLIENT --home HOME SOURCE TARGET

Three changes; everything else stays byte for byte as the client wrote it:
1. String values that hold the client's own prompts become a marker `[removed: ...]`. RULES says which.
2. HOME of the recording becomes /home/dev (in namespaces it is that already).
3. The release of the machine's kernel becomes 6.1.0. One unused setting of mini-swe-agent is left out.
Fails, without writing, if a word that must not be shipped is left.
"""

import argparse
import json
import platform
import re
import sys

PROMPT = "[removed: client's system prompt]"
TOOL = "[removed: client's tool description]"
TEXT = "[removed: client's instructions]"

# Strings up to this long are labels such as "text": a rule must never reach them.
LABEL = 20

# (path of a string value, length, marker). A path names the keys from the top, with `[]` for a place in a
# list and `<type>` for the type (or role) of the object it is in. Only longer strings are removed.
RULES = {
    "claude-code": [
        (r"<api-request-shape>\.shape\.system\[\]<text>\.text$", LABEL, PROMPT),
        (r"<attachment>\.attachment<prompt_snapshot>\.systemPrompt", LABEL, PROMPT),
        (r"\.tools\[\]\..*description$", LABEL, TOOL),
        (r"<attachment>\.attachment<agent_listing_delta>\.addedLines\[\]", LABEL, TEXT),
        (r"<attachment>\.attachment<skill_listing>\.content", LABEL, TEXT),
        (r"<attachment>\.rendered\[\]\.content", 200, TEXT),
        (r"<api-request-blob>\.message<(user|system)>\.content\[\]<text>\.text", 200, TEXT),
        (r"<api-request-blob>\.message<(user|system)>\.content$", 200, TEXT),
    ],
    "codex": [
        (r"<session_meta>\.payload\.base_instructions\.text", LABEL, PROMPT),
        (r"<response_item>\.payload<message:developer>\.content\[\]<input_text>\.text", 200, TEXT),
        (r"<world_state>\.payload\.state\.host_skills\.body", LABEL, TEXT),
    ],
    "openhands": [
        (r"\.system_prompt<text>\.text", LABEL, PROMPT),
        (r"\.tools\[\]\..*description$", LABEL, TOOL),
    ],
}

# Paths of a recording machine and hosts of package sources. The brackets keep this line from matching itself.
FORBIDDEN = re.compile(r"/[w]ork/|/[r]oot/|/opt/[a-z]+|[r]egistry|[n]pmjs|[p]ypi")
# A setting nobody made, named with a forbidden word; it has a line of its own.
UNUSED_SETTING = re.compile(r'\n *"litellm_model_[r]egistry": null,')
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


def tagged(path, node):
    kind = node.get("type") or node.get("role")
    if not isinstance(kind, str):
        return path
    role = node.get("role")
    return f"{path}<{kind}:{role}>" if kind == "message" and isinstance(role, str) else f"{path}<{kind}>"


def strings(node, path=""):
    """Yields (path, value) of every string value below a node."""
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, dict):
        here = tagged(path, node)
        for key, value in node.items():
            yield from strings(value, f"{here}.{key}")
    elif isinstance(node, list):
        for value in node:
            yield from strings(value, f"{path}[]")


def documents(text):
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def outline(text):
    """Returns the paths of all strings, home folders aside; removing values must not change them."""
    paths = [path for document in documents(text) for path, _ in strings(document)]
    return [path for path in paths if "/" not in path]


def markers(client, text):
    """Returns {string value to remove: its marker}."""
    rules = [(re.compile(path), least, marker) for path, least, marker in RULES.get(client, [])]
    found = {}
    for document in documents(text):
        for path, value in strings(document):
            for rule, least, marker in rules:
                if len(value) > least and rule.search(path):
                    found[value] = marker
    return found


def without_prompts(client, text):
    found = markers(client, text)

    def swap(literal):
        marker = found.get(json.loads(literal.group()))
        return literal.group() if marker is None else json.dumps(marker)

    return LITERAL.sub(swap, text)


def without_machine(text, home):
    text = text.replace(home, "/home/dev").replace(platform.release(), "6.1.0")
    # Clients that name folders after the working directory write its slashes as dashes.
    text = text.replace(home.replace("/", "-"), "-home-dev")
    return UNUSED_SETTING.sub("", text)


def main():
    parser = argparse.ArgumentParser(description="Make a transcript fit to ship.")
    parser.add_argument("--client", required=True)
    parser.add_argument("--home", required=True)
    parser.add_argument("source")
    parser.add_argument("target")
    options = parser.parse_args()
    with open(options.source, newline="") as file:
        source = file.read()
    text = without_machine(without_prompts(options.client, source), options.home)
    left = sorted({match.group() for match in FORBIDDEN.finditer(text)})
    if left:
        sys.exit(f"normalise.py: {options.source} still holds {', '.join(left)}")
    if outline(text) != outline(source):
        sys.exit(f"normalise.py: {options.source}: more than values has changed")
    with open(options.target, "w", newline="") as file:
        file.write(text)


if __name__ == "__main__":
    main()
