"""What the scripts have in common: the task, where the model is, and the one tool."""

import argparse
import os
import subprocess

_parser = argparse.ArgumentParser()
_parser.add_argument("--stream", action="store_true", help="ask for streamed answers")
_parser.add_argument("--kept", action="store_true", help="leave the conversation to the server")
_parser.add_argument("url", help="where the model's server is, without a version")
_parser.add_argument("prompt")
_given = _parser.parse_args()

STREAM, KEPT, URL, PROMPT = _given.stream, _given.kept, _given.url, _given.prompt
MODEL = "scripted"
INSTRUCTIONS = "You work on a small Python package by running shell commands. Say what you found when you are done."
DESCRIPTION = "Runs a shell command in the package's folder and returns what it prints."
PARAMETERS = {
    "type": "object",
    "properties": {"command": {"type": "string", "description": "The command."}},
    "required": ["command"],
    "additionalProperties": False,
}
# A script that goes on longer than this is in a loop that nobody ended.
MAX_TURNS = 60


def run_shell(command: str) -> str:
    """Runs a shell command in the package's folder and returns what it prints.

    Args:
        command: The command.
    """
    ended = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=30, env=dict(os.environ))
    return f"{ended.stdout}{ended.stderr}exit status {ended.returncode}"
