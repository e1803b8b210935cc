"""Maps the neutral calls of a scenario to the tools of each client.

A neutral call is one of
    {"read": path}
    {"run": command, "why": text}
    {"search": text}
    {"edit": path, "old": text, "new": text}
Paths are relative to the workspace. A mapped call is (tool name, arguments); arguments are a dict, or a string for
the free-form tools of Codex.
"""


def _shell_search(text):
    return f"grep -rn --include='*.py' {text!r} ."


def _shell_edit(call):
    return (
        "python3 - <<'EOF'\n"
        "from pathlib import Path\n"
        f"path = Path({call['edit']!r})\n"
        f"path.write_text(path.read_text().replace({call['old']!r}, {call['new']!r}, 1))\n"
        "EOF"
    )


def _shell(call):
    """The call as one shell command, for clients that have nothing else."""
    if "read" in call:
        return f"cat {call['read']}"
    if "search" in call:
        return _shell_search(call["search"])
    if "edit" in call:
        return _shell_edit(call)
    return call["run"]


def _claude(call, root):
    if "read" in call:
        return "Read", {"file_path": f"{root}/{call['read']}"}
    if "edit" in call:
        return "Edit", {
            "file_path": f"{root}/{call['edit']}",
            "old_string": call["old"],
            "new_string": call["new"],
        }
    why = call.get("why", "Search the package")
    return "Bash", {"command": _shell(call), "description": why}


def _patch(call):
    old = "".join(f"-{line}\n" for line in call["old"].split("\n"))
    new = "".join(f"+{line}\n" for line in call["new"].split("\n"))
    return f"*** Begin Patch\n*** Update File: {call['edit']}\n@@\n{old}{new}*** End Patch\n"


def _codex(call, _root):
    if "edit" in call:
        return "apply_patch", _patch(call)
    return "exec_command", {"cmd": _shell(call)}


def _gemini(call, _root):
    if "read" in call:
        return "read_file", {"file_path": call["read"]}
    if "search" in call:
        return "grep_search", {"pattern": call["search"]}
    if "edit" in call:
        return "replace", {
            "file_path": call["edit"],
            "instruction": "Change one line.",
            "old_string": call["old"],
            "new_string": call["new"],
        }
    return "run_shell_command", {"command": call["run"], "description": call["why"]}


def _qwen(call, root):
    if "read" in call:
        return "read_file", {"file_path": f"{root}/{call['read']}"}
    if "search" in call:
        return "grep_search", {"pattern": call["search"]}
    if "edit" in call:
        return "edit", {
            "file_path": f"{root}/{call['edit']}",
            "old_string": call["old"],
            "new_string": call["new"],
        }
    return "run_shell_command", {
        "command": call["run"],
        "is_background": False,
        "description": call["why"],
    }


def _opencode(call, root):
    if "read" in call:
        return "read", {"filePath": f"{root}/{call['read']}"}
    if "search" in call:
        return "grep", {"pattern": call["search"]}
    if "edit" in call:
        return "edit", {
            "filePath": f"{root}/{call['edit']}",
            "oldString": call["old"],
            "newString": call["new"],
        }
    return "bash", {"command": call["run"], "description": call["why"]}


def _openhands(call, root):
    if "read" in call:
        return "file_editor", {"command": "view", "path": f"{root}/{call['read']}", "security_risk": "LOW"}
    if "edit" in call:
        return "file_editor", {
            "command": "str_replace",
            "path": f"{root}/{call['edit']}",
            "old_str": call["old"],
            "new_str": call["new"],
            "security_risk": "LOW",
        }
    return "terminal", {"command": _shell(call), "security_risk": "LOW"}


def _mini(call, _root):
    return "bash", {"command": _shell(call)}


def _script(call, _root):
    return "run_shell", {"command": _shell(call)}


_MAPPERS = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "qwen-code": _qwen,
    "opencode": _opencode,
    "openhands": _openhands,
    "mini-swe-agent": _mini,
    "script": _script,
}

CLIENTS = tuple(_MAPPERS)


def map_call(client, call, root):
    """Returns (tool name, arguments) of a neutral call for the client."""
    return _MAPPERS[client](call, root)


def closing_call(client, text):
    """Returns the call a model ends a run with, for clients that have one; None for the others."""
    if client == "mini-swe-agent":
        return "bash", {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}
    if client == "openhands":
        return "finish", {"message": text, "security_risk": "LOW"}
    return None
