"""Judges what a play through the gateway left behind; prints one line, and fails if something is not as it must be.

Usage: judge.py CLIENT PLAY SCENARIO FOLDER STEERSMAN
"""

import collections
import json
import pathlib
import subprocess
import sys

client, play, scenario, out, steersman = sys.argv[1:]
out = pathlib.Path(out)
script = json.loads(pathlib.Path(scenario).read_text())["turns"]
# A script that ends in calls is followed by one more reply, which ends the run.
turns = len(script) + bool(script[-1].get("calls"))
# Its own guard ends a loop before the gateway does, and says so with its status.
HAS_GUARD = {"gemini-cli", "qwen-code"}
# Steps after which a client ends by itself, as testdata/record/mini.yaml says.
turns = min(turns, {"mini-swe-agent": 30}.get(client, turns))


def lines(path):
    """The values of a file of JSON lines; none if the file is missing."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def entries(session):
    asked = [steersman, "sessions", "show", session, "--json", "--state", str(out / "state")]
    shown = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    return [json.loads(line)["entry"] for line in shown]


def is_call(exchange):
    return exchange["path"].partition("?")[0].endswith(
        ("/messages", "/responses", "/chat/completions", "generateContent", "GenerateContent"))


def changed():
    """How many exchanges are not the same on both sides of the gateway; an answer that was left is not compared."""
    near = [one for one in tap if one.get("method") == "POST"]
    far = [one for one in lines(out / "server.jsonl") if one["request"] != EMPTY]
    left = {one["request"] for one in near if one["answer"] is None}
    same = lambda one: (one["path"], one["request"], None if one["request"] in left else one["answer"])
    near, far = (collections.Counter(map(same, side)) for side in (near, far))
    return max((near - far).total(), (far - near).total())


EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
tap = lines(out / "tap.jsonl")
statuses = [path.read_text().strip() for path in sorted(out.glob("status*"))]
expected = 2 if play == "pair" else 1
told = [entries(session["session"]) for session in lines(out / "sessions.jsonl")]
of = lambda session, kind: [entry for entry in session if entry["entry"] == kind]
replies = [len(of(session, "replied")) for session in told]
said = sum(len(of(session, "said")) for session in told)
courses = {entry["course"]: None for session in told for entry in of(session, "steered")}
decisions = collections.Counter(one["headers"].get("x-steersman-decision") for one in tap)
problems = []


def must(holds, otherwise):
    if not holds:
        problems.append(otherwise)


must(len(statuses) == expected and "124" not in statuses, f"status {'/'.join(statuses)}: it did not end by itself")
must(set(statuses) <= {"0"} or (play == "loop" and client in HAS_GUARD), f"it ended with {'/'.join(statuses)}")
must(len(told) == expected, f"{len(told)} sessions, {expected} expected")
if play == "loop":
    must(said, "nothing was said")
    must(all(count < turns for count in replies), "it was not ended")
    # A client with a guard of its own may be gone by then.
    must(client in HAS_GUARD or decisions["force_synthesis"], "no answer was forced")
else:
    must(set(replies) == {turns}, f"{turns} replies expected")
    must(not said, "something was said")
    must(not changed(), f"{changed()} exchanges were changed")
if play == "pair":
    marks = [{reply["text"].split(" ")[0] for reply in of(session, "replied") if reply["text"]} for session in told]
    must(sorted(map(sorted, marks)) == [["run1"], ["run2"]], f"turns were mixed up: {marks}")
if play.startswith("shadow"):
    modes = {one["headers"].get("x-steersman-mode") for one in tap if is_call(one)}
    must(modes == {"shadow"}, f"modes {modes}")
else:
    must(set(courses) == {"pass"} or play == "loop", f"courses {set(courses)}")
if play == "shadow-loop":
    must(decisions["nudge"] and decisions["force_synthesis"], f"the headers told only {dict(decisions)}")
heads = {one["headers"].get("x-steersman-session") for one in tap if "x-steersman-session" in one["headers"]}
must(len(heads) == expected, f"{len(heads)} sessions in the headers")
print(f"{client} {play}: {len(told)} sessions, {'+'.join(map(str, replies))} replies, {said} said, "
      f"courses {'/'.join(courses)}, status {'/'.join(statuses)}: " + ("; ".join(problems) or "ok"), flush=True)
sys.exit(bool(problems))
