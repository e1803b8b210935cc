//! What a shell command does.
//!
//! A command line does as much as the most consequential of its simple commands: a test run before
//! a change, a change before any other program, that before waiting, reading and searching.

use alloc::borrow::Cow;

use memchr::memchr;

use super::canon::{hash_loose, hash_path, hash_text, hash_url, sketch};
use super::code;
use super::facts::{EditDigest, Facts};
use super::lexer::{Part, Token, parts, tokens, unquote};
use super::lines::{amount, lines_of, substitution};
use super::patch;
use super::programs::{Program, is_test_file, program_of};
use super::suites::{Suite, subcommand};
use super::wrappers::command_of;
use super::{ToolKind, canon};

/// How many words of a simple command are looked at.
const WORDS_LIMIT: usize = 40;

/// How deep scripts inside scripts (`bash -c`, `$(…)`) are looked into.
const DEPTH_LIMIT: u8 = 3;

/// What a command line does, seen from the folder `cwd` (empty if unknown).
pub(super) fn read(script: &str, cwd: &str) -> Facts {
    let mut facts = Facts::default();
    let mut seen = Seen { cwd: Cow::Borrowed(cwd), depth: 0 };
    seen.script(without_fence(script), &mut facts);
    facts
}

/// A script without the Markdown fence that some models put around it.
fn without_fence(script: &str) -> &str {
    let script = script.trim_ascii();
    let Some(inner) = script.strip_prefix("```") else { return script };
    let language = inner.bytes().take_while(u8::is_ascii_alphabetic).count();
    inner[language..].trim_end_matches('`')
}

/// A command without the parentheses of a subshell.
fn without_parentheses(text: &str) -> &str {
    if memchr(b')', text.as_bytes()).is_none() {
        return text.trim_start_matches(['(', ' ']);
    }
    let count = |sign: u8| text.bytes().filter(|byte| *byte == sign).count();
    let inner = text.trim_start_matches(['(', ' ']);
    let opened = text.len() > inner.len();
    if count(b')') > count(b'(') || (opened && inner.ends_with(')')) {
        return inner.strip_suffix(')').unwrap_or(inner);
    }
    inner
}

struct Seen<'a> {
    cwd: Cow<'a, str>,
    depth: u8,
}

/// The words and redirections of one simple command.
struct Line<'a> {
    words: [&'a str; WORDS_LIMIT],
    len: usize,
    write: Option<&'a str>,
    input: Option<&'a str>,
}

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Self {
        let mut line = Self { words: [""; WORDS_LIMIT], len: 0, write: None, input: None };
        for token in tokens(text) {
            match token {
                Token::Word(word) if line.len < WORDS_LIMIT => {
                    line.words[line.len] = unquote(word);
                    line.len += 1;
                }
                Token::Word(_) => {}
                Token::Write(target) if is_kept(unquote(target)) => {
                    line.write = line.write.or(Some(unquote(target)));
                }
                Token::Write(_) => {}
                Token::Read(source) => line.input = line.input.or(Some(unquote(source))),
            }
        }
        line
    }

    fn words(&self) -> &[&'a str] {
        &self.words[..self.len]
    }
}

/// Whether what is written to a file can matter later: not so for devices and logs.
fn is_kept(path: &str) -> bool {
    !path.starts_with("/dev/") && !path.ends_with(".log") && !path.starts_with('&')
}

impl Seen<'_> {
    fn script(&mut self, script: &str, facts: &mut Facts) {
        if self.depth > DEPTH_LIMIT {
            return;
        }
        for part in parts(script) {
            self.part(&part, facts);
        }
    }

    fn nested(&mut self, script: &str, facts: &mut Facts) {
        self.depth += 1;
        self.script(script, facts);
        self.depth -= 1;
    }

    fn part(&mut self, part: &Part<'_>, facts: &mut Facts) {
        let line = Line::of(without_parentheses(part.text));
        let words = line.words();
        let (name, operands) = command_of(words);
        // `x=$(command)` and `"$(command)"` run a command as well.
        if memchr(b'$', part.text.as_bytes()).is_some() {
            for (_, inner) in words.iter().filter_map(|word| word.split_once("$(")).take(4) {
                self.nested(inner.strip_suffix(')').unwrap_or(inner), facts);
            }
        }
        if !name.is_empty() {
            self.command(name, operands, &line, part, facts);
        }
        if let Some(target) = line.write
            && !(facts.is_test && facts.edit.is_none())
        {
            let new = part.heredoc.map_or_else(|| hash_text(part.text), hash_text);
            let resource = hash_path(&self.cwd, target);
            facts.merge(ToolKind::Edit, Some(resource), None);
            facts.changes = true;
            facts.edit.get_or_insert(EditDigest { resource, old: 0, new });
        }
    }

    fn command(
        &mut self,
        name: &str,
        operands: &[&str],
        line: &Line<'_>,
        part: &Part<'_>,
        facts: &mut Facts,
    ) {
        let base = name.rsplit('/').next().unwrap_or(name);
        match program_of(base) {
            Some(Program::Idle) => self.idle(base, operands, facts),
            Some(Program::Reads) => self.reads(base, operands, line, part, facts),
            Some(Program::Scripted) => self.scripted(base, operands, part, facts),
            Some(Program::Greps) => self.greps(base, operands, part, facts),
            Some(Program::Lists | Program::Compares) => {
                let path = operands.iter().find(|word| !word.starts_with('-'));
                let resource = path.map(|path| self.place(base, path));
                facts.merge(ToolKind::Search, resource, None);
            }
            Some(Program::Changes) => self.changes(base, operands, part, facts),
            Some(Program::Tests) => {
                facts.is_test = true;
                facts.merge(ToolKind::Test, None, None);
            }
            Some(Program::Waits) => {
                facts.polls = true;
                facts.merge(ToolKind::Poll, None, None);
            }
            Some(Program::Shells) => self.shells(operands, part, facts),
            Some(Program::Interprets) => self.interprets(operands, part, facts),
            Some(Program::Has(suite)) => self.suite(suite, operands, part, facts),
            Some(Program::Transfers) => transfers(operands, facts),
            Some(Program::Walks) => self.walks(operands, facts),
            Some(Program::Finishes) => facts.finishes = true,
            Some(Program::Wraps) | None => facts.merge(ToolKind::Execute, None, None),
        }
    }

    /// A listing of a place is another resource than the file or folder itself.
    fn place(&self, program: &str, path: &str) -> u64 {
        crate::digest::combine(hash_text(program), hash_path(&self.cwd, path))
    }

    fn idle(&mut self, base: &str, operands: &[&str], facts: &mut Facts) {
        if base == "cd"
            && let Some(to) = operands.first()
        {
            let rooted = to.starts_with(['/', '~']);
            self.cwd = match (rooted, self.cwd.is_empty()) {
                (true, _) | (_, true) => Cow::Owned((*to).into()),
                _ => Cow::Owned(alloc::format!("{}/{to}", self.cwd)),
            };
        }
        facts.finishes |= operands.contains(&"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT");
    }

    fn reads(
        &mut self,
        base: &str,
        operands: &[&str],
        line: &Line<'_>,
        part: &Part<'_>,
        facts: &mut Facts,
    ) {
        let mut range = None;
        let mut from_end = base == "tail";
        let mut resource: Option<u64> = None;
        let mut skip_value = false;
        for word in operands {
            if skip_value {
                skip_value = false;
                range = range.or_else(|| amount(word, from_end));
            } else if let Some(flag) = word.strip_prefix('-').filter(|flag| !flag.is_empty()) {
                if base == "tail" && matches!(flag, "f" | "F" | "-follow") {
                    facts.polls = true;
                } else if matches!(flag, "n" | "c" | "-lines" | "-bytes") && part_counts(base) {
                    skip_value = true;
                } else if part_counts(base) {
                    let digits = flag.trim_start_matches(['n', '-', 'l', 'i', 'e', 's', '=']);
                    range = range.or_else(|| amount(digits, from_end));
                }
            } else if base == "tail" && word.starts_with('+') {
                from_end = false;
                range = range.or_else(|| amount(word, from_end));
            } else {
                let path = hash_path(&self.cwd, word);
                resource = Some(resource.map_or(path, |one| crate::digest::combine(one, path)));
            }
        }
        let resource = resource.or_else(|| line.input.map(|path| hash_path(&self.cwd, path)));
        match (resource, part.piped) {
            (Some(_), _) => facts.merge(ToolKind::Read, resource, range),
            // A filter narrows what was read before it.
            (None, true) if facts.kind == ToolKind::Read => {
                facts.range = facts.range.or(range);
            }
            (None, _) => {}
        }
    }

    fn scripted(&mut self, base: &str, operands: &[&str], part: &Part<'_>, facts: &mut Facts) {
        let in_place = |word: &&&str| {
            **word == "--in-place"
                || **word == "inplace"
                || (base == "sed" && word.starts_with("-i"))
                || (base == "sed" && word.starts_with('-') && word.ends_with('i'))
                || (base == "yq" && **word == "-i")
        };
        let edits = operands.iter().find(in_place).is_some();
        let mut plain = operands.iter().filter(|word| !word.starts_with('-') && !word.is_empty());
        let script = plain.next().copied().unwrap_or_default();
        let path = plain.next_back().map(|path| hash_path(&self.cwd, path));
        if edits {
            let (old, new) = substitution(script).unwrap_or((0, hash_text(script)));
            facts.merge(ToolKind::Edit, path, None);
            facts.changes = true;
            if let Some(resource) = path {
                facts.edit.get_or_insert(EditDigest { resource, old, new });
            }
            return;
        }
        let range = lines_of(script);
        match (path, part.piped) {
            (Some(_), _) => facts.merge(ToolKind::Read, path, range),
            (None, true) if facts.kind == ToolKind::Read => facts.range = facts.range.or(range),
            (None, true) => {}
            (None, false) => facts.merge(ToolKind::Execute, None, None),
        }
    }

    fn greps(&mut self, base: &str, operands: &[&str], part: &Part<'_>, facts: &mut Facts) {
        let mut plain = operands.iter().filter(|word| !word.starts_with('-') && !word.is_empty());
        let pattern = plain.next().copied().unwrap_or_default();
        if part.piped && plain.clone().next().is_none() && base != "rg" {
            // A filter of what came before.
            facts.query = facts.query.or_else(|| sketch(pattern));
            return;
        }
        let place = plain.next_back().map_or(0, |path| hash_path(&self.cwd, path));
        facts.merge(
            ToolKind::Search,
            Some(crate::digest::combine(hash_loose(pattern), place)),
            None,
        );
        facts.query = facts.query.or_else(|| sketch(pattern));
    }

    fn changes(&mut self, base: &str, operands: &[&str], part: &Part<'_>, facts: &mut Facts) {
        let mut plain = operands.iter().filter(|word| !word.starts_with('-'));
        let target = plain.next_back().copied();
        if base == "tee" && !target.is_some_and(is_kept) {
            return;
        }
        let resource = target.map(|path| hash_path(&self.cwd, path));
        facts.changes = true;
        let digest = match (base, part.heredoc, resource) {
            ("tee", Some(body), Some(resource)) => {
                Some(EditDigest { resource, old: 0, new: hash_text(body) })
            }
            ("patch", Some(body), _) => digest_of(body),
            _ => None,
        };
        let resource = digest.as_ref().map_or(resource, |edit| Some(edit.resource));
        facts.edit = facts.edit.or(digest);
        facts.merge(ToolKind::Edit, resource, None);
    }

    fn shells(&mut self, operands: &[&str], part: &Part<'_>, facts: &mut Facts) {
        let flag = operands.iter().position(|word| word.starts_with('-') && word.ends_with('c'));
        if let Some(script) = flag.and_then(|at| operands.get(at + 1)) {
            self.nested(script, facts);
        } else if let Some(body) = part.heredoc {
            self.nested(body, facts);
        } else if operands.iter().any(|word| is_test_file(word)) {
            facts.is_test = true;
            facts.merge(ToolKind::Test, None, None);
        } else {
            facts.merge(ToolKind::Execute, None, None);
        }
    }

    fn interprets(&mut self, operands: &[&str], part: &Part<'_>, facts: &mut Facts) {
        let mut at = 0;
        while let Some(word) = operands.get(at) {
            match *word {
                "-c" | "-e" | "-p" | "--eval" | "-pe" | "-ne" => {
                    code::run(operands.get(at + 1).copied().unwrap_or_default(), facts);
                    return;
                }
                "-m" => {
                    let module = operands.get(at + 1).copied().unwrap_or_default();
                    let rest = operands.get(at + 2..).unwrap_or_default();
                    self.module(module, rest, facts);
                    return;
                }
                "-W" | "-X" => at += 2,
                "--test" => {
                    facts.is_test = true;
                    facts.merge(ToolKind::Test, None, None);
                    return;
                }
                "-pi" | "-i" | "-pie" | "-i.bak" => {
                    facts.changes = true;
                    facts.merge(ToolKind::Edit, None, None);
                    return;
                }
                flag if flag.starts_with('-') && flag.len() > 1 => at += 1,
                _ => break,
            }
        }
        if let Some(body) = part.heredoc {
            code::run(body, facts);
            return;
        }
        let file = operands.get(at).copied().unwrap_or_default();
        let manages = file.ends_with("manage.py") && operands.get(at + 1) == Some(&"test");
        facts.is_test |= manages || is_test_file(file);
        let kind = if facts.is_test { ToolKind::Test } else { ToolKind::Execute };
        facts.merge(kind, None, None);
    }

    fn module(&mut self, module: &str, rest: &[&str], facts: &mut Facts) {
        match program_of(module.split('.').next().unwrap_or(module)) {
            Some(Program::Has(Suite::Packages)) => {
                let (kind, changes) = subcommand(Suite::Packages, rest);
                facts.changes |= changes;
                facts.merge(kind, None, None);
            }
            Some(Program::Tests) => {
                facts.is_test = true;
                facts.merge(ToolKind::Test, None, None);
            }
            _ if matches!(module, "unittest" | "doctest" | "nose" | "trial") => {
                facts.is_test = true;
                facts.merge(ToolKind::Test, None, None);
            }
            _ => {
                facts.changes |= matches!(module, "venv" | "black" | "isort");
                facts.merge(ToolKind::Execute, None, None);
            }
        }
    }

    fn suite(&mut self, suite: Suite, operands: &[&str], part: &Part<'_>, facts: &mut Facts) {
        if suite == Suite::Docker
            && let Some(at) = operands.iter().position(|word| matches!(*word, "exec" | "run"))
        {
            // What runs inside a container counts if it can be told.
            let inside = operands[at + 1..].iter().position(|word| program_of(word).is_some());
            if let Some(inside) = inside {
                let line = Line { words: [""; WORDS_LIMIT], len: 0, write: None, input: None };
                let (name, rest) = operands[at + 1 + inside..].split_at(1);
                self.command(name[0], rest, &line, part, facts);
                return;
            }
        }
        let (kind, changes) = subcommand(suite, operands);
        facts.changes |= changes;
        facts.polls |= kind == ToolKind::Poll;
        facts.is_test |= kind == ToolKind::Test;
        let digest = part.heredoc.filter(|_| changes).and_then(digest_of);
        facts.edit = facts.edit.or(digest);
        let last = operands.iter().skip(1).rev().find(|word| !word.starts_with('-'));
        let resource = match kind {
            ToolKind::Read | ToolKind::Search => {
                let verb = operands.first().copied().unwrap_or_default();
                Some(self.place(verb, last.copied().unwrap_or_default()))
            }
            _ => digest.map(|edit| edit.resource),
        };
        if operands.contains(&"grep") {
            let pattern = operands.iter().skip(1).find(|word| !word.starts_with('-'));
            facts.query = facts.query.or_else(|| pattern.and_then(|word| sketch(word)));
        }
        facts.merge(kind, resource, None);
    }

    fn walks(&mut self, operands: &[&str], facts: &mut Facts) {
        let acts = operands.iter().position(|word| matches!(*word, "-exec" | "-execdir" | "-ok"));
        if let Some(at) = acts
            && let Some((name, rest)) = operands[at + 1..].split_first()
        {
            let line = Line { words: [""; WORDS_LIMIT], len: 0, write: None, input: None };
            let part = Part { text: "", heredoc: None, piped: false };
            self.command(name, rest, &line, &part, facts);
        }
        if operands.contains(&"-delete") {
            facts.changes = true;
            facts.merge(ToolKind::Edit, None, None);
        }
        let place = operands.iter().find(|word| !word.starts_with('-')).copied().unwrap_or(".");
        let mut resource = self.place("find", place);
        for word in operands {
            resource = crate::digest::combine(resource, hash_text(word));
        }
        facts.merge(ToolKind::Search, Some(resource), None);
        let named = operands.iter().position(|word| matches!(*word, "-name" | "-iname" | "-path"));
        let pattern = named.and_then(|at| operands.get(at + 1));
        facts.query = facts.query.or_else(|| pattern.and_then(|word| sketch(word)));
    }
}

fn part_counts(base: &str) -> bool {
    matches!(base, "head" | "tail")
}

fn digest_of(body: &str) -> Option<EditDigest> {
    let patch = patch::read(body)?;
    Some(EditDigest { resource: patch.resource?, old: patch.old, new: patch.new })
}

/// `curl` and `wget`: reading, sending, or asking for a state.
fn transfers(operands: &[&str], facts: &mut Facts) {
    let is_url = |word: &&&str| word.contains("://") || word.starts_with("localhost");
    let url = operands.iter().find(is_url).copied().unwrap_or_default();
    let sends = operands.iter().enumerate().any(|(at, word)| match *word {
        "-X" | "--request" => {
            matches!(operands.get(at + 1), Some(&("POST" | "PUT" | "PATCH" | "DELETE")))
        }
        "-XPOST" | "-XPUT" | "-XPATCH" | "-XDELETE" | "-d" | "-F" | "-T" | "--form" => true,
        word => word.starts_with("--data") || word.starts_with("--upload"),
    });
    let asks = ["status", "health", "ready", "ping", "alive"];
    if sends {
        facts.changes = true;
        facts.merge(ToolKind::Edit, Some(hash_url(url)), None);
    } else if asks.iter().any(|word| url.contains(word)) {
        facts.polls = true;
        facts.merge(ToolKind::Poll, Some(hash_url(url)), None);
    } else {
        facts.merge(ToolKind::Read, Some(canon::hash_url(url)), None);
    }
}
