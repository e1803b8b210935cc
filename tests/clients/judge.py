"""Judges what a client's run through the gateway left behind; prints one line."""

import json
import pathlib
import subprocess
import sys

client, scenario, out, steersman = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
turns = len(json.loads(scenario.read_text())["turns"])
status = (out / "status").read_text().strip()
sessions = [json.loads(line) for line in (out / "sessions.jsonl").read_text().splitlines()]


def entries(session):
    asked = [steersman, "sessions", "show", session, "--json", "--state", str(out / "state")]
    lines = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()
    return [json.loads(line)["entry"] for line in lines]


told = {session["session"]: entries(session["session"]) for session in sessions}
# The session with the most replies is the agent; others are helpers of the client.
main = max(told.values(), key=len, default=[])
count = lambda kind: sum(entry["entry"] == kind for entry in main)
actions = [entry["action"] if "action" in entry else entry["decision"]["action"]
           for entry in main if entry["entry"] == "decided"]
courses = [entry["course"] for entry in main if entry["entry"] == "steered"]
problems = []
if scenario.stem == "loop":
    if not count("said"):
        problems.append("nothing was said")
    if count("replied") >= turns:
        problems.append("it was not ended")
    if status == "124":
        problems.append("the client did not end by itself")
else:
    if status != "0":
        problems.append(f"the client ended with {status}")
    if count("replied") != turns:
        problems.append(f"{count('replied')} replies, {turns} expected")
    if count("said") or set(courses) - {"pass"}:
        problems.append("it was not left alone")
print(f"{client} {scenario.stem}: {len(sessions)} sessions, {count('replied')} replies, "
      f"{count('said')} said, courses {'/'.join(dict.fromkeys(courses))}, status {status}: "
      + ("; ".join(problems) or "ok"))
sys.exit(bool(problems))
