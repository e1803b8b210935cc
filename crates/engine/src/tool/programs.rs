//! What programs do: a table by name, and the sub-commands of those that have some.

use super::ToolKind;
use super::keys::Folded;

/// What a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// Says or sets something in the shell only.
    Idle,
    /// Prints files, or filters its input.
    Reads,
    /// Filters its input by a script, or prints files through it; the first operand is the script.
    Scripted,
    /// Looks for something; the first operand is what for.
    Greps,
    /// Looks for something, lists or measures.
    Lists,
    /// Compares or tests a condition.
    Compares,
    /// Changes files or the system.
    Changes,
    /// Runs tests.
    Tests,
    /// Waits.
    Waits,
    /// Runs another command given as its operands.
    Wraps,
    /// A shell: `-c` runs a script.
    Shells,
    /// An interpreter: `-c` or `-e` runs code, `-m` a module, otherwise a file.
    Interprets,
    /// Has sub-commands; see [`subcommand`].
    Has(Suite),
    /// Fetches or sends over the network.
    Transfers,
    /// Walks files, and may act on them.
    Walks,
    /// Ends the run with its answer.
    Finishes,
}

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

use Program::{
    Changes, Compares, Finishes, Greps, Has, Idle, Interprets, Lists, Reads, Scripted, Shells,
    Tests, Transfers, Waits, Walks, Wraps,
};

/// Known programs, in lower case without separators.
const PROGRAMS: &[(&str, Program)] = &[
    ("ack", Greps),
    ("ag", Greps),
    ("alias", Idle),
    ("apk", Has(Suite::Packages)),
    ("apt", Has(Suite::Packages)),
    ("aptget", Has(Suite::Packages)),
    ("awk", Scripted),
    ("base64", Reads),
    ("bash", Shells),
    ("bat", Reads),
    ("batcat", Reads),
    ("bats", Tests),
    ("bazel", Has(Suite::Make)),
    ("behave", Tests),
    ("brew", Has(Suite::Packages)),
    ("builtin", Wraps),
    ("bun", Has(Suite::Node)),
    ("bundle", Has(Suite::Node)),
    ("bunx", Wraps),
    ("bunzip2", Changes),
    ("bzip2", Changes),
    ("cargo", Has(Suite::Cargo)),
    ("cat", Reads),
    ("cd", Idle),
    ("chgrp", Changes),
    ("chmod", Changes),
    ("chown", Changes),
    ("cksum", Lists),
    ("cmp", Compares),
    ("column", Reads),
    ("comm", Compares),
    ("command", Wraps),
    ("composer", Has(Suite::Node)),
    ("conda", Has(Suite::Packages)),
    ("cp", Changes),
    ("crontab", Changes),
    ("ctest", Tests),
    ("curl", Transfers),
    ("cut", Reads),
    ("cypress", Tests),
    ("date", Idle),
    ("dd", Changes),
    ("delete", Changes),
    ("deno", Has(Suite::Node)),
    ("df", Lists),
    ("diff", Compares),
    ("dir", Lists),
    ("dnf", Has(Suite::Packages)),
    ("doas", Wraps),
    ("docker", Has(Suite::Docker)),
    ("dockercompose", Has(Suite::Docker)),
    ("dotnet", Has(Suite::Java)),
    ("du", Lists),
    ("echo", Idle),
    ("edit", Changes),
    ("egrep", Greps),
    ("env", Wraps),
    ("eval", Wraps),
    ("exec", Wraps),
    ("exit", Idle),
    ("expand", Reads),
    ("export", Idle),
    ("false", Idle),
    ("fd", Greps),
    ("fdfind", Greps),
    ("fgrep", Greps),
    ("file", Lists),
    ("find", Walks),
    ("findfile", Greps),
    ("fmt", Reads),
    ("fold", Reads),
    ("free", Lists),
    ("gawk", Scripted),
    ("gh", Has(Suite::Github)),
    ("git", Has(Suite::Git)),
    ("glab", Has(Suite::Github)),
    ("go", Has(Suite::Go)),
    ("gotestsum", Tests),
    ("gradle", Has(Suite::Java)),
    ("gradlew", Has(Suite::Java)),
    ("grep", Greps),
    ("groups", Lists),
    ("gunzip", Changes),
    ("gzip", Changes),
    ("head", Reads),
    ("helm", Has(Suite::Kubectl)),
    ("hexdump", Reads),
    ("history", Lists),
    ("hostname", Lists),
    ("id", Lists),
    ("ifconfig", Lists),
    ("insert", Changes),
    ("install", Changes),
    ("java", Interprets),
    ("jest", Tests),
    ("join", Reads),
    ("journalctl", Waits),
    ("jq", Scripted),
    ("just", Has(Suite::Make)),
    ("karma", Tests),
    ("kill", Changes),
    ("killall", Changes),
    ("kubectl", Has(Suite::Kubectl)),
    ("less", Reads),
    ("ll", Lists),
    ("ln", Changes),
    ("local", Idle),
    ("locate", Lists),
    ("ls", Lists),
    ("lsof", Lists),
    ("make", Has(Suite::Make)),
    ("man", Lists),
    ("md5sum", Lists),
    ("meson", Has(Suite::Make)),
    ("mise", Has(Suite::Make)),
    ("mix", Has(Suite::Java)),
    ("mkdir", Changes),
    ("mocha", Tests),
    ("more", Reads),
    ("mv", Changes),
    ("mvn", Has(Suite::Java)),
    ("mvnw", Has(Suite::Java)),
    ("netstat", Lists),
    ("nice", Wraps),
    ("ninja", Has(Suite::Make)),
    ("nl", Reads),
    ("node", Interprets),
    ("nohup", Wraps),
    ("nose2", Tests),
    ("nosetests", Tests),
    ("nox", Tests),
    ("npm", Has(Suite::Node)),
    ("npx", Wraps),
    ("od", Reads),
    ("open", Reads),
    ("pacman", Has(Suite::Packages)),
    ("paste", Reads),
    ("patch", Changes),
    ("pdm", Has(Suite::Packages)),
    ("perl", Interprets),
    ("pgrep", Lists),
    ("php", Interprets),
    ("phpunit", Tests),
    ("ping", Waits),
    ("pip", Has(Suite::Packages)),
    ("pip3", Has(Suite::Packages)),
    ("pipenv", Has(Suite::Packages)),
    ("pkill", Changes),
    ("playwright", Has(Suite::Make)),
    ("pnpm", Has(Suite::Node)),
    ("poetry", Has(Suite::Packages)),
    ("popd", Idle),
    ("printenv", Lists),
    ("printf", Idle),
    ("prove", Tests),
    ("ps", Waits),
    ("pushd", Idle),
    ("pwd", Lists),
    ("pypy3", Interprets),
    ("pytest", Tests),
    ("python", Interprets),
    ("python2", Interprets),
    ("python3", Interprets),
    ("rake", Has(Suite::Make)),
    ("read", Idle),
    ("readelf", Reads),
    ("readlink", Lists),
    ("realpath", Lists),
    ("return", Idle),
    ("rev", Reads),
    ("rg", Greps),
    ("rm", Changes),
    ("rmdir", Changes),
    ("rspec", Tests),
    ("rsync", Changes),
    ("ruby", Interprets),
    ("sbt", Has(Suite::Java)),
    ("scp", Changes),
    ("scrolldown", Reads),
    ("scrollup", Reads),
    ("searchdir", Greps),
    ("searchfile", Greps),
    ("sed", Scripted),
    ("seq", Idle),
    ("service", Has(Suite::Service)),
    ("set", Idle),
    ("sh", Shells),
    ("sha256sum", Lists),
    ("shift", Idle),
    ("shuf", Reads),
    ("sleep", Waits),
    ("sort", Reads),
    ("source", Idle),
    ("split", Changes),
    ("squeue", Waits),
    ("ss", Lists),
    ("ssh", Wraps),
    ("stat", Lists),
    ("stdbuf", Wraps),
    ("strings", Reads),
    ("submit", Finishes),
    ("sudo", Wraps),
    ("swift", Has(Suite::Java)),
    ("systemctl", Has(Suite::Service)),
    ("tac", Reads),
    ("tail", Reads),
    ("tar", Has(Suite::Archive)),
    ("tee", Changes),
    ("test", Compares),
    ("time", Wraps),
    ("timeout", Wraps),
    ("top", Waits),
    ("touch", Changes),
    ("tox", Tests),
    ("tr", Reads),
    ("tree", Lists),
    ("true", Idle),
    ("truncate", Changes),
    ("type", Lists),
    ("ulimit", Idle),
    ("umask", Idle),
    ("uname", Lists),
    ("unbuffer", Wraps),
    ("uniq", Reads),
    ("unset", Idle),
    ("unzip", Has(Suite::Archive)),
    ("uptime", Lists),
    ("uv", Has(Suite::Packages)),
    ("uvx", Wraps),
    ("vitest", Tests),
    ("wait", Waits),
    ("watch", Waits),
    ("wc", Lists),
    ("wget", Transfers),
    ("whereis", Lists),
    ("which", Lists),
    ("whoami", Lists),
    ("xargs", Wraps),
    ("xxd", Reads),
    ("yarn", Has(Suite::Node)),
    ("yes", Idle),
    ("yq", Scripted),
    ("yum", Has(Suite::Packages)),
    ("zcat", Reads),
    ("zip", Changes),
    ("zsh", Shells),
];

/// What a program does; `None` if it is not known.
pub(super) fn program_of(name: &str) -> Option<Program> {
    match name {
        "[" | "[[" => Some(Compares),
        ":" | "." => Some(Idle),
        _ => {
            // `python3.11` is `python`.
            let base = name.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
            let find = |name: &str| Folded::<24>::of(name).find(PROGRAMS);
            find(name).or_else(|| find(base)).or_else(|| test_script(name))
        }
    }
}

/// Scripts that run tests by their name.
fn test_script(name: &str) -> Option<Program> {
    let stem = name.split('.').next().unwrap_or(name);
    let tests = ["test", "tests", "runtest", "runtests", "run_test", "run_tests", "run-tests"];
    let named = tests.contains(&stem) || stem.starts_with("test_") || stem.ends_with("_test");
    named.then_some(Tests)
}

/// Whether a file by its name holds tests.
pub(super) fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    test_script(name).is_some()
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

/// What the sub-command of a suite does; `operands` are the words after the program's name.
pub(super) fn subcommand(suite: Suite, operands: &[&str]) -> (ToolKind, bool) {
    const RUN: (ToolKind, bool) = (ToolKind::Execute, false);
    const TEST: (ToolKind, bool) = (ToolKind::Test, false);
    const CHANGE: (ToolKind, bool) = (ToolKind::Edit, true);
    const READ: (ToolKind, bool) = (ToolKind::Read, false);
    const LIST: (ToolKind, bool) = (ToolKind::Search, false);
    const POLL: (ToolKind, bool) = (ToolKind::Poll, false);
    let mut words = operands.iter().copied().filter(|word| !word.starts_with('-'));
    let verb = words.next().unwrap_or_default();
    let object = words.next().unwrap_or_default();
    let has = |flag: &str| operands.contains(&flag);
    let by = |table: &Words, word: &str| {
        if table.changes.contains(&word) {
            CHANGE
        } else if table.waits.contains(&word) {
            POLL
        } else if table.reads.contains(&word) {
            READ
        } else if table.lists.contains(&word) {
            LIST
        } else {
            RUN
        }
    };
    match suite {
        Suite::Git => git(operands, &by),
        Suite::Cargo => match verb {
            "test" | "t" | "nextest" | "tarpaulin" | "miri" => TEST,
            "add" | "remove" | "install" | "uninstall" | "update" | "fix" | "new" | "init" => {
                CHANGE
            }
            "fmt" if !has("--check") => CHANGE,
            "clippy" if has("--fix") => CHANGE,
            "tree" | "metadata" | "search" | "info" => LIST,
            _ => RUN,
        },
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
            _ => by(&NODE, verb),
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
            "compose" | "container" | "network" | "volume" => by(&DOCKER, object),
            _ => by(&DOCKER, verb),
        },
        Suite::Kubectl => match (verb, object) {
            ("rollout", "status") => POLL,
            ("rollout", _) => CHANGE,
            _ => by(&KUBECTL, verb),
        },
        Suite::Github => match (verb, object) {
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
            ("auth" | "config" | "--version", _) => LIST,
            _ => CHANGE,
        },
        Suite::Packages => match verb {
            "run" => RUN,
            _ if verb == "pip" || has("pip") => by(&PACKAGES, object),
            _ => by(&PACKAGES, verb),
        },
        Suite::Service => {
            let found = by(&SERVICE, verb);
            if found == RUN { by(&SERVICE, object) } else { found }
        }
        Suite::Archive => {
            let lists = |word: &&str| {
                let flags = word.trim_start_matches('-');
                matches!(*word, "-l" | "--list" | "-p" | "-t")
                    || (flags.len() < 6 && flags.contains('t') && !flags.contains(['x', 'c', '.']))
            };
            if operands.first().is_some_and(lists) { LIST } else { CHANGE }
        }
    }
}

fn git(operands: &[&str], by: &dyn Fn(&Words, &str) -> (ToolKind, bool)) -> (ToolKind, bool) {
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
    let reading = (ToolKind::Search, false);
    let changing = (ToolKind::Edit, true);
    let lists = |flags: &[&str]| rest.iter().any(|word| flags.contains(word));
    match verb {
        "stash" if matches!(object, "list" | "show") => reading,
        "stash" | "notes" => changing,
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
            if reads && !deletes { reading } else { changing }
        }
        "worktree" => {
            if object == "list" {
                reading
            } else {
                changing
            }
        }
        "config" => {
            let reads = lists(&["--get", "--list", "-l", "--get-all", "--get-regexp"])
                || rest.iter().filter(|word| !word.starts_with('-')).count() < 2;
            if reads { reading } else { changing }
        }
        "apply" if lists(&["--check", "--stat", "--numstat"]) => reading,
        "remote" if matches!(object, "add" | "remove" | "set-url" | "rename") => changing,
        "clean" if lists(&["-n", "--dry-run", "-nd"]) => reading,
        _ => by(&GIT, verb),
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
    fn programs_are_sorted() {
        assert!(PROGRAMS.is_sorted_by_key(|(name, _)| *name));
    }

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
