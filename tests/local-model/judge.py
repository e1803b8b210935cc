"""Judges one run of tests/local-model/run by its journal, or sums all of them up."""
import collections
import json
import sys

ENDINGS = {
    "complete": 0, "claimed": 0, "refuted": 4, "capped": 5, "stopped": 6, "failed": 7, "waiting": 8,
}
# After the last turn a forced answer may follow; a reply that is under way may take its time to end.
MORE_TURNS, MORE_MS = 1, 10_000


def fields(line):
    """An entry of the journal, wherever the line keeps it."""
    value = json.loads(line)
    return value if "entry" in value and isinstance(value["entry"], str) else value.get("entry", value)


def judge(number, code, took_ms, max_turns, max_wall_s, path, table):
    entries = [fields(line) for line in open(path, encoding="utf-8") if line.strip()]
    kinds = [entry.get("entry") for entry in entries]
    turns = kinds.count("replied")
    decisions = collections.Counter(
        entry["decision"]["action"] for entry in entries if entry.get("entry") == "decided")
    calls = kinds.count("tool_finished")
    ending = next((e["ending"] for e in entries if e.get("entry") == "ended"), "none")
    wrong = []
    if ENDINGS.get(ending) != code:
        wrong.append(f"ending {ending} with exit code {code}")
    if turns > max_turns + MORE_TURNS:
        wrong.append(f"{turns} turns")
    if took_ms > max_wall_s * 1000 + MORE_MS:
        wrong.append(f"{took_ms} ms")
    told = ",".join(f"{name}:{count}" for name, count in sorted(decisions.items()))
    row = [number, ending, turns, calls, told, took_ms]
    with open(table, "a", encoding="utf-8") as out:
        out.write("\t".join(map(str, row)) + "\n")
    print(f"run {number}: {ending}, {turns} turns, {calls} calls, {took_ms / 1000:.1f} s, {told}"
          + "".join(f"; WRONG: {what}" for what in wrong), flush=True)
    return not wrong


def sum_up(table):
    rows = [line.rstrip("\n").split("\t") for line in open(table, encoding="utf-8")]
    endings = collections.Counter(row[1] for row in rows)
    decisions = collections.Counter()
    for row in rows:
        for told in filter(None, row[4].split(",")):
            name, count = told.split(":")
            decisions[name] += int(count)
    turns = sorted(int(row[2]) for row in rows)
    wall = sorted(int(row[5]) / 1000 for row in rows)
    middle = len(rows) // 2
    print(f"{len(rows)} runs: " + ", ".join(f"{n} {name}" for name, n in endings.most_common()))
    print("decisions: " + ", ".join(f"{n} {name}" for name, n in decisions.most_common()))
    print(f"turns: {sum(turns)} in all, median {turns[middle]}, most {turns[-1]}")
    print(f"wall: {sum(wall):.0f} s in all, median {wall[middle]:.1f} s, longest {wall[-1]:.1f} s")


if sys.argv[1] == "summary":
    sum_up(sys.argv[2])
else:
    number, code, took_ms, max_turns, max_wall_s = map(int, sys.argv[1:6])
    sys.exit(0 if judge(number, code, took_ms, max_turns, max_wall_s, *sys.argv[6:8]) else 1)
