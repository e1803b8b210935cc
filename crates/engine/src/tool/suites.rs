//! Programs with sub-commands: what `git status`, `cargo test` or `npm install` do.

use super::ToolKind;

/// A program with sub-commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Suite {
    Git,
    Cargo,
    Go,
    Node,
    Make,
    Java,
    Docker,
    Kubectl,
    Github,
    Packages,
    Service,
    Archive,
}

/// Words of a suite: reading ones, changing ones, testing ones.
struct Words {
    reads: &'static [&'static str],
    lists: &'static [&'static str],
    changes: &'static [&'static str],
    waits: &'static [&'static str],
}

const GIT: Words = Words {
    reads: &["blame", "cat-file", "diff", "log", "reflog", "shortlog", "show", "status"],
    lists: &[
        "describe",
        "fetch",
        "for-each-ref",
        "grep",
        "help",
        "ls-files",
        "ls-remote",
        "ls-tree",
        "merge-base",
        "name-rev",
        "remote",
        "rev-list",
        "rev-parse",
        "symbolic-ref",
        "version",
        "--version",
    ],
    changes: &[
        "add",
        "am",
        "apply",
        "bisect",
        "checkout",
        "cherry-pick",
        "clean",
        "clone",
        "commit",
        "init",
        "merge",
        "mv",
        "pull",
        "push",
        "rebase",
        "reset",
        "restore",
        "revert",
        "rm",
        "submodule",
        "switch",
        "update-index",
        "update-ref",
    ],
    waits: &[],
};

const DOCKER: Words = Words {
    reads: &["inspect", "diff", "config"],
    lists: &["images", "image", "info", "version", "search", "port"],
    changes: &[
        "commit", "cp", "create", "down", "kill", "load", "pause", "pull", "push", "restart", "rm",
        "rmi", "start", "stop", "tag", "unpause", "up",
    ],
    waits: &["events", "logs", "ps", "stats", "top", "wait", "ls"],
};

const KUBECTL: Words = Words {
    reads: &["describe", "explain", "diff", "show", "template"],
    lists: &["api-resources", "auth", "cluster-info", "config", "version", "list", "search"],
    changes: &[
        "annotate",
        "apply",
        "autoscale",
        "cordon",
        "create",
        "delete",
        "drain",
        "edit",
        "expose",
        "install",
        "label",
        "patch",
        "replace",
        "scale",
        "set",
        "taint",
        "uninstall",
        "upgrade",
    ],
    waits: &["get", "logs", "status", "top", "wait"],
};

const PACKAGES: Words = Words {
    reads: &["show", "info"],
    lists: &[
        "check",
        "config",
        "freeze",
        "index",
        "list",
        "ls",
        "outdated",
        "policy",
        "search",
        "why",
        "--version",
    ],
    changes: &[
        "add",
        "autoremove",
        "build-dep",
        "create",
        "dist-upgrade",
        "full-upgrade",
        "install",
        "lock",
        "purge",
        "reinstall",
        "remove",
        "sync",
        "tap",
        "uninstall",
        "update",
        "upgrade",
        "venv",
        "pip",
    ],
    waits: &[],
};

const NODE: Words = Words {
    reads: &["show", "info", "view"],
    lists: &["config", "list", "ls", "outdated", "why", "--version", "-v"],
    changes: &[
        "add",
        "ci",
        "create",
        "i",
        "init",
        "install",
        "link",
        "publish",
        "remove",
        "require",
        "rm",
        "uninstall",
        "update",
        "upgrade",
        "version",
    ],
    waits: &[],
};

const SERVICE: Words = Words {
    reads: &["cat", "show"],
    lists: &["is-enabled", "list-units", "list-unit-files"],
    changes: &["daemon-reload", "disable", "enable", "kill", "reload", "restart", "start", "stop"],
    waits: &["is-active", "status"],
};

/// What a command does, and whether it changes something.
type Effect = (ToolKind, bool);

const RUN: Effect = (ToolKind::Execute, false);
const TEST: Effect = (ToolKind::Test, false);
const CHANGE: Effect = (ToolKind::Edit, true);
const READ: Effect = (ToolKind::Read, false);
const LIST: Effect = (ToolKind::Search, false);
const POLL: Effect = (ToolKind::Poll, false);

impl Words {
    fn effect(&self, word: &str) -> Effect {
        if self.changes.contains(&word) {
            CHANGE
        } else if self.waits.contains(&word) {
            POLL
        } else if self.reads.contains(&word) {
            READ
        } else if self.lists.contains(&word) {
            LIST
        } else {
            RUN
        }
    }
}

/// What the sub-command of a suite does; `operands` are the words after the program's name.
pub(super) fn subcommand(suite: Suite, operands: &[&str]) -> Effect {
    let mut words = operands.iter().copied().filter(|word| !word.starts_with('-'));
    let verb = words.next().unwrap_or_default();
    let object = words.next().unwrap_or_default();
    match suite {
        Suite::Git => git(operands),
        Suite::Cargo => cargo(verb, operands),
        Suite::Go => match (verb, object) {
            ("test", _) => TEST,
            ("mod", "tidy" | "download" | "edit" | "init" | "vendor") => CHANGE,
            ("get" | "install" | "generate" | "fmt" | "fix", _) => CHANGE,
            ("doc" | "list" | "env" | "version", _) => LIST,
            _ => RUN,
        },
        Suite::Node => match verb {
            "test" | "t" | "tst" | "spec" | "rspec" => TEST,
            "run" | "run-script" | "exec" if is_test_word(object) => TEST,
            _ if is_test_word(verb) => TEST,
            "run" | "run-script" | "exec" => RUN,
            "" if operands.is_empty() => CHANGE,
            _ => NODE.effect(verb),
        },
        Suite::Make | Suite::Java => {
            if operands.iter().any(|word| is_test_word(word)) {
                TEST
            } else if operands.iter().any(|word| is_change_word(word, suite)) {
                CHANGE
            } else {
                RUN
            }
        }
        Suite::Docker => match verb {
            "compose" | "container" | "network" | "volume" => DOCKER.effect(object),
            _ => DOCKER.effect(verb),
        },
        Suite::Kubectl => match (verb, object) {
            ("rollout", "status") => POLL,
            ("rollout", _) => CHANGE,
            _ => KUBECTL.effect(verb),
        },
        Suite::Github => github(verb, object, operands),
        Suite::Packages => match verb {
            "run" => RUN,
            _ if verb == "pip" => PACKAGES.effect(object),
            _ => PACKAGES.effect(verb),
        },
        Suite::Service => match SERVICE.effect(verb) {
            RUN => SERVICE.effect(object),
            found => found,
        },
        Suite::Archive => archive(operands.first().copied().unwrap_or_default()),
    }
}

fn cargo(verb: &str, operands: &[&str]) -> Effect {
    match verb {
        "test" | "t" | "nextest" | "tarpaulin" | "miri" => TEST,
        "add" | "remove" | "install" | "uninstall" | "update" | "fix" | "new" | "init" => CHANGE,
        "fmt" if !operands.contains(&"--check") => CHANGE,
        "clippy" if operands.contains(&"--fix") => CHANGE,
        "tree" | "metadata" | "search" | "info" => LIST,
        _ => RUN,
    }
}

fn github(verb: &str, object: &str, operands: &[&str]) -> Effect {
    match (verb, object) {
        ("run" | "pr" | "workflow" | "ci", "watch" | "checks" | "status") => POLL,
        ("run" | "workflow" | "ci", "view" | "list") => POLL,
        ("api", _) => {
            let sends = |word: &&str| {
                matches!(*word, "POST" | "PUT" | "PATCH" | "DELETE" | "-f" | "-F" | "--input")
            };
            if operands.iter().any(sends) { CHANGE } else { READ }
        }
        ("search", _) | (_, "list" | "status") => LIST,
        (_, "view" | "diff" | "checks" | "download") => READ,
        ("auth" | "config" | "", _) => LIST,
        _ => CHANGE,
    }
}

/// `tar` and `unzip`: listing or unpacking.
fn archive(first: &str) -> Effect {
    let flags = first.trim_start_matches('-');
    let lists = matches!(first, "-l" | "--list" | "-p" | "-t")
        || (flags.len() < 6 && flags.contains('t') && !flags.contains(['x', 'c', '.']));
    if lists { LIST } else { CHANGE }
}

fn git(operands: &[&str]) -> Effect {
    // Options before the verb, some with a value.
    let mut at = 0;
    while let Some(word) = operands.get(at) {
        match *word {
            "-C" | "-c" | "--git-dir" | "--work-tree" => at += 2,
            "--version" => break,
            flag if flag.starts_with('-') => at += 1,
            _ => break,
        }
    }
    let verb = operands.get(at).copied().unwrap_or_default();
    let rest = operands.get(at + 1..).unwrap_or_default();
    let object = rest.iter().copied().find(|word| !word.starts_with('-')).unwrap_or_default();
    let lists = |flags: &[&str]| rest.iter().any(|word| flags.contains(word));
    match verb {
        "stash" if matches!(object, "list" | "show") => LIST,
        "stash" | "notes" => CHANGE,
        "branch" | "tag" => {
            let reads = object.is_empty()
                || lists(&[
                    "-a",
                    "-r",
                    "-v",
                    "-vv",
                    "-l",
                    "--list",
                    "--show-current",
                    "--contains",
                ]);
            let deletes = lists(&["-d", "-D", "-m", "-M", "--delete"]);
            if reads && !deletes { LIST } else { CHANGE }
        }
        "worktree" => {
            if object == "list" {
                LIST
            } else {
                CHANGE
            }
        }
        "config" => {
            let reads = lists(&["--get", "--list", "-l", "--get-all", "--get-regexp"])
                || rest.iter().filter(|word| !word.starts_with('-')).count() < 2;
            if reads { LIST } else { CHANGE }
        }
        "apply" if lists(&["--check", "--stat", "--numstat"]) => LIST,
        "remote" if matches!(object, "add" | "remove" | "set-url" | "rename") => CHANGE,
        "clean" if lists(&["-n", "--dry-run", "-nd"]) => LIST,
        _ => GIT.effect(verb),
    }
}

/// Whether a target of a build tool changes sources or the system.
fn is_change_word(word: &str, suite: Suite) -> bool {
    match word {
        "add" | "restore" | "new" | "fmt" | "format" | "generate" | "lint:fix" => true,
        "install" => suite == Suite::Make,
        _ => false,
    }
}

/// Whether a target or script name means testing: `test`, `test:unit`, `check`, `-Dtest=X`.
fn is_test_word(word: &str) -> bool {
    if let Some(option) = word.strip_prefix("-D") {
        return option.starts_with("test=") || option.starts_with("it.test=");
    }
    if word.starts_with('-') || word.contains('=') {
        return false;
    }
    word.split([':', '-', '_', '/', '.']).any(|piece| {
        matches!(
            piece,
            "test"
                | "tests"
                | "check"
                | "verify"
                | "spec"
                | "pytest"
                | "unittest"
                | "integrationTest"
                | "jest"
                | "vitest"
                | "mocha"
        )
    })
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn subcommands_tell_what_a_suite_does() {
        use ToolKind::{Edit, Execute, Poll, Read, Search, Test};
        let cases = [
            (Suite::Git, "-C /x status", Read, false),
            (Suite::Git, "stash", Edit, true),
            (Suite::Git, "stash list", Search, false),
            (Suite::Git, "branch -a", Search, false),
            (Suite::Git, "branch fix", Edit, true),
            (Suite::Git, "config user.name", Search, false),
            (Suite::Git, "config user.name x", Edit, true),
            (Suite::Git, "checkout -- f", Edit, true),
            (Suite::Cargo, "test -p x", Test, false),
            (Suite::Cargo, "fmt --check", Execute, false),
            (Suite::Go, "mod tidy", Edit, true),
            (Suite::Go, "build ./...", Execute, false),
            (Suite::Node, "run test:unit -- --grep x", Test, false),
            (Suite::Node, "install", Edit, true),
            (Suite::Node, "run build", Execute, false),
            (Suite::Java, "-Dtest=XTest test", Test, false),
            (Suite::Java, "compile", Execute, false),
            (Suite::Make, "check", Test, false),
            (Suite::Docker, "ps", Poll, false),
            (Suite::Docker, "compose up -d", Edit, true),
            (Suite::Kubectl, "get pods", Poll, false),
            (Suite::Github, "run view 5", Poll, false),
            (Suite::Github, "pr view 5", Read, false),
            (Suite::Github, "pr create", Edit, true),
            (Suite::Packages, "install x", Edit, true),
            (Suite::Packages, "list", Search, false),
            (Suite::Archive, "-tzf x.tgz", Search, false),
            (Suite::Archive, "xzf x.tgz", Edit, true),
        ];
        for (suite, line, kind, changes) in cases {
            let operands: Vec<_> = line.split(' ').collect();
            assert_eq!(subcommand(suite, &operands), (kind, changes), "{suite:?} {line}");
        }
    }
}
