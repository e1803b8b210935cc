//! Commands shown in the documentation.

use crate::VERBS;
use crate::tidy::Findings;
use crate::tidy::markdown;
use crate::tidy::tree::Tree;

/// What Cargo itself brings along, and the plug-ins that CONTRIBUTING.md tells how to get.
const CARGO: &[&str] = &[
    "add", "bench", "build", "clippy", "deny", "doc", "fmt", "fuzz", "install", "run", "test",
    "tree", "update",
];

/// Every command of a shell block exists: scripts, Cargo's and our verbs, options, packages, paths.
pub(in crate::tidy) fn check(tree: &Tree, findings: &mut Findings) {
    for file in tree.with_ending("md") {
        for command in markdown::commands(file) {
            let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
            let words = words.iter().position(|word| !word.contains('=')).map(|at| &words[at..]);
            if let Some(missing) = words.and_then(|words| find_missing(tree, words)) {
                findings.add(&file.path, command.line, missing);
            }
        }
    }
}

/// What the command needs and does not find; `None` if all is there.
fn find_missing(tree: &Tree, words: &[&str]) -> Option<String> {
    let arguments = &words[1..];
    let program = match words[0] {
        "cargo" => check_cargo(tree, arguments),
        "steersman" => check_verb(tree, arguments),
        script => match script.strip_prefix("./") {
            Some(path) if !tree.has(path) => Some(format!("no script {script}")),
            _ => None,
        },
    };
    program.or_else(|| arguments.iter().find_map(|word| check_path(tree, word)))
}

fn check_cargo(tree: &Tree, arguments: &[&str]) -> Option<String> {
    let arguments = match arguments {
        [toolchain, rest @ ..] if toolchain.starts_with('+') => rest,
        all => all,
    };
    let (&verb, rest) = arguments.split_first()?;
    if verb == "xtask" {
        let known = rest.first().is_some_and(|verb| VERBS.contains(verb));
        return (!known).then(|| format!("cargo xtask has the verbs {VERBS:?}"));
    }
    if !CARGO.contains(&verb) {
        return Some(format!("unknown: cargo {verb}"));
    }
    let package = rest.windows(2).find(|pair| matches!(pair[0], "-p" | "--package"));
    if let Some(&[_, name]) = package {
        let line = format!("name = \"{name}\"");
        let mut manifests = tree.files().iter().filter(|file| file.path.ends_with("Cargo.toml"));
        let known = manifests.any(|file| file.text.lines().any(|found| found == line));
        return (!known).then(|| format!("no package {name}"));
    }
    let own = rest.iter().position(|word| *word == "--").filter(|_| verb == "run")?;
    check_verb(tree, &rest[own + 1..])
}

/// A verb of the `steersman` command and its long options.
fn check_verb(tree: &Tree, arguments: &[&str]) -> Option<String> {
    // A quoted text is the reader's own words.
    let is_plain = |word: &&&str| !word.starts_with(['-', '"', '\'']);
    let plain = arguments.iter().take_while(is_plain).count();
    let (words, rest) = arguments.split_at(plain);
    if words.is_empty() {
        return None;
    }
    let shown = words.join(" ");
    let help = match tree.help(words) {
        Ok(help) => help,
        Err(error) => return Some(format!("`steersman {shown} --help` failed: {error}")),
    };
    let options = rest.iter().filter(|word| word.starts_with("--"));
    let mut names = options.map(|word| word.split('=').next().unwrap_or(word));
    let unknown = names.find(|name| !help.contains(*name))?;
    Some(format!("`steersman {shown} --help` does not name {unknown}"))
}

/// A path into one of our folders leads to something. Other words may be paths of the reader's.
fn check_path(tree: &Tree, word: &str) -> Option<String> {
    let (folder, _) = word.split_once('/')?;
    let ours = !folder.is_empty() && tree.has(folder);
    (ours && !word.contains(['*', '<', '$']) && !tree.has(word)).then(|| format!("no path {word}"))
}
