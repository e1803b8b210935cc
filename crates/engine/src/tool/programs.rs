//! What programs do: a table by name, and the sub-commands of those that have some.

use super::folded::{Folded, Index};
use super::suites::Suite;

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
    /// Has sub-commands; see [`subcommand`](super::suites::subcommand).
    Has(Suite),
    /// Fetches or sends over the network.
    Transfers,
    /// Walks files, and may act on them.
    Walks,
    /// Ends the run with its answer.
    Finishes,
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

static PROGRAM_INDEX: Index<512> = Index::of(PROGRAMS);

/// What a program does; `None` if it is not known.
pub(super) fn program_of(name: &str) -> Option<Program> {
    match name {
        "[" | "[[" => Some(Compares),
        ":" | "." => Some(Idle),
        _ => {
            // `python3.11` is `python`.
            let base = name.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
            let find = |name: &str| Folded::<24>::of(name).find(PROGRAMS, &PROGRAM_INDEX);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_sorted() {
        assert!(PROGRAMS.is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn programs_are_found_in_their_spellings() {
        let cases = [
            ("python3.11", Some(Program::Interprets)),
            ("apt-get", Some(Program::Has(Suite::Packages))),
            ("run_tests.sh", Some(Program::Tests)),
            ("[", Some(Program::Compares)),
            ("frobnicate", None),
            ("", None),
        ];
        for (name, program) in cases {
            assert_eq!(program_of(name), program, "{name}");
        }
    }
}
