//! What tools are called: a table of known names, and verbs for all others.

use super::ToolKind;
use super::keys::Folded;

/// How the arguments of a tool say what a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The name says all there is to say.
    Plain,
    /// A shell command.
    Shell,
    /// Source code.
    Code,
    /// A database query.
    Sql,
    /// JavaScript that calls tools.
    Script,
    /// A patch.
    Patch,
    /// A file with its whole new content.
    Write,
    /// A file with old and new text.
    Replace,
    /// A file tool with sub-commands.
    Editor,
    /// An argument names the action.
    Action,
    /// A wrapper around another tool.
    Wrapper,
    /// Keys typed into a running program; none is a look at its output.
    Stdin,
}

/// What is known about a tool by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tool {
    pub(super) kind: ToolKind,
    pub(super) shape: Shape,
    /// Whether a call changes something if it succeeds, where the shape does not tell.
    pub(super) changes: bool,
    /// Whether a call ends the run with its answer.
    pub(super) finishes: bool,
}

const fn tool(kind: ToolKind, shape: Shape, changes: bool) -> Tool {
    Tool { kind, shape, changes, finishes: false }
}

/// A tool nobody knows.
pub(super) const UNKNOWN: Tool = tool(ToolKind::Other, Shape::Action, false);

const READ: Tool = tool(ToolKind::Read, Shape::Plain, false);
const SEARCH: Tool = tool(ToolKind::Search, Shape::Plain, false);
const EDIT: Tool = tool(ToolKind::Edit, Shape::Replace, true);
const WRITE: Tool = tool(ToolKind::Edit, Shape::Write, true);
const PATCH: Tool = tool(ToolKind::Edit, Shape::Patch, true);
const DO: Tool = tool(ToolKind::Edit, Shape::Plain, true);
const EDITOR: Tool = tool(ToolKind::Edit, Shape::Editor, true);
const SHELL: Tool = tool(ToolKind::Execute, Shape::Shell, false);
const CODE: Tool = tool(ToolKind::Execute, Shape::Code, false);
const SQL: Tool = tool(ToolKind::Search, Shape::Sql, false);
const SCRIPT: Tool = tool(ToolKind::Execute, Shape::Script, false);
const RUN: Tool = tool(ToolKind::Execute, Shape::Plain, false);
const ACT: Tool = tool(ToolKind::Execute, Shape::Plain, true);
const TEST: Tool = tool(ToolKind::Test, Shape::Shell, false);
const POLL: Tool = tool(ToolKind::Poll, Shape::Plain, false);
const STDIN: Tool = tool(ToolKind::Execute, Shape::Stdin, false);
const PAGE: Tool = tool(ToolKind::Paginate, Shape::Plain, false);
const PLAN: Tool = tool(ToolKind::Plan, Shape::Plain, false);
const OTHER: Tool = tool(ToolKind::Other, Shape::Plain, false);
const ACTION: Tool = tool(ToolKind::Other, Shape::Action, false);
const WRAPPER: Tool = tool(ToolKind::Other, Shape::Wrapper, false);
const FINISH: Tool = Tool { finishes: true, ..OTHER };

/// Known names, in lower case without separators.
const NAMES: &[(&str, Tool)] = &[
    ("activateskill", PLAN),
    ("addtags", DO),
    ("agent", ACT),
    ("applydiff", PATCH),
    ("applypatch", PATCH),
    ("askfollowupquestion", OTHER),
    ("askquestion", OTHER),
    ("askuser", OTHER),
    ("askuserquestion", OTHER),
    ("attemptcompletion", FINISH),
    ("bash", SHELL),
    ("bashoutput", POLL),
    ("browser", ACTION),
    ("browseraction", ACTION),
    ("calculate", PLAN),
    ("calculator", PLAN),
    ("checkbackgroundjob", POLL),
    ("checklist", PLAN),
    ("clarifycodechange", PLAN),
    ("clocksleep", POLL),
    ("codebasesearch", SEARCH),
    ("compare", SEARCH),
    ("computer", ACTION),
    ("computeruse", ACTION),
    ("continuation", PLAN),
    ("continueorterminate", PLAN),
    ("createfile", WRITE),
    ("deciderelevance", PLAN),
    ("decision", PLAN),
    ("deferredtoolplaceholder", OTHER),
    ("deletefile", DO),
    ("diagnostics", TEST),
    ("done", FINISH),
    ("edit", EDIT),
    ("editactionarguments", EDITOR),
    ("editcode", EDIT),
    ("editfile", EDIT),
    ("editnotebook", EDIT),
    ("editor", EDITOR),
    ("enterplanmode", PLAN),
    ("evaluate", CODE),
    ("exec", SHELL),
    ("execcommand", SHELL),
    ("execute", CODE),
    ("executebash", SHELL),
    ("executecode", CODE),
    ("executecommand", SHELL),
    ("executeipythoncell", CODE),
    ("executepython", CODE),
    ("executesql", SQL),
    ("exit", FINISH),
    ("exitplanmode", PLAN),
    ("fetch", READ),
    ("fetchwebcontent", READ),
    ("fileeditor", EDITOR),
    ("fileread", READ),
    ("filesurfer", READ),
    ("filewrite", WRITE),
    ("finalanswer", FINISH),
    ("find", SEARCH),
    ("findandreplace", EDIT),
    ("findandreplacecode", EDIT),
    ("finish", FINISH),
    ("getdiagnostics", TEST),
    ("getgoal", PLAN),
    ("glob", SEARCH),
    ("go", READ),
    ("goback", READ),
    ("goforward", READ),
    ("googlewebsearch", SEARCH),
    ("goto", PAGE),
    ("grep", SEARCH),
    ("grepsearch", SEARCH),
    ("identify", READ),
    ("identifycode", READ),
    ("input", DO),
    ("inserteditintofile", EDIT),
    ("invokeagent", ACT),
    ("ipython", CODE),
    ("killshell", ACT),
    ("listbackgroundprocesses", POLL),
    ("listdir", SEARCH),
    ("listdirectory", SEARCH),
    ("loadmore", PAGE),
    ("localshell", SHELL),
    ("localshellcall", SHELL),
    ("ls", SEARCH),
    ("lsp", SEARCH),
    ("mcpcall", WRAPPER),
    ("monitor", POLL),
    ("move", DO),
    ("multiedit", EDIT),
    ("navigate", READ),
    ("nextpage", PAGE),
    ("notebookedit", EDIT),
    ("notebookeditcell", EDIT),
    ("open", READ),
    ("plantocode", PLAN),
    ("pressenter", ACT),
    ("proposeplan", PLAN),
    ("psql", SQL),
    ("pythoninterpreter", CODE),
    ("querydb", SQL),
    ("read", READ),
    ("readbackgroundoutput", POLL),
    ("readfile", READ),
    ("readfiles", READ),
    ("readlints", TEST),
    ("readmanyfiles", READ),
    ("reflect", PLAN),
    ("reject", PLAN),
    ("replace", EDIT),
    ("replacefile", EDIT),
    ("replacefilecontent", EDIT),
    ("replaceinfile", EDIT),
    ("reportfindings", PLAN),
    ("reportprogress", PLAN),
    ("requestforchange", PLAN),
    ("requestuserinput", OTHER),
    ("retrieve", SEARCH),
    ("runcommand", SHELL),
    ("runcommands", SHELL),
    ("runinterminal", SHELL),
    ("runshell", SHELL),
    ("runshellcommand", SHELL),
    ("runsql", SQL),
    ("runsqlquery", SQL),
    ("runterminalcmd", SHELL),
    ("runtest", TEST),
    ("runtests", TEST),
    ("savememory", PLAN),
    ("say", OTHER),
    ("schedulewakeup", POLL),
    ("scroll", PAGE),
    ("scrolldown", PAGE),
    ("scrollup", PAGE),
    ("search", SEARCH),
    ("searchandreplace", EDIT),
    ("searchfiles", SEARCH),
    ("searchreplace", EDIT),
    ("sendkeys", ACT),
    ("sendmessage", ACT),
    ("sequentialthinking", PLAN),
    ("shell", SHELL),
    ("shellcommand", SHELL),
    ("skill", PLAN),
    ("skills", PLAN),
    ("solution", FINISH),
    ("spawnagent", ACT),
    ("specifylines", PLAN),
    ("sql", SQL),
    ("sqlquery", SQL),
    ("startover", ACT),
    ("strreplace", EDIT),
    ("strreplacebasededittool", EDITOR),
    ("strreplaceeditor", EDITOR),
    ("submit", FINISH),
    ("submitanswer", FINISH),
    ("task", ACT),
    ("taskcreate", PLAN),
    ("taskget", PLAN),
    ("tasklist", PLAN),
    ("taskoutput", POLL),
    ("taskstop", ACT),
    ("tasktracker", PLAN),
    ("taskupdate", PLAN),
    ("terminal", SHELL),
    ("terminate", FINISH),
    ("test", TEST),
    ("texteditor", EDITOR),
    ("texteditor20250124", EDITOR),
    ("texteditor20250728", EDITOR),
    ("think", PLAN),
    ("todoread", PLAN),
    ("todowrite", PLAN),
    ("toolcall", WRAPPER),
    ("toolsearch", SEARCH),
    ("undoedit", DO),
    ("updategoal", PLAN),
    ("updateplan", PLAN),
    ("updatetodolist", PLAN),
    ("updatetopic", PLAN),
    ("usemcptool", WRAPPER),
    ("viewcode", READ),
    ("wait", POLL),
    ("waitagent", POLL),
    ("waitfor", POLL),
    ("webfetch", READ),
    ("websearch", SEARCH),
    ("websurfer", READ),
    ("workflow", ACT),
    ("write", WRITE),
    ("writefile", WRITE),
    ("writestdin", STDIN),
    ("writetodos", PLAN),
    ("writetofile", WRITE),
];

/// Verbs and nouns that tell what an unknown tool does; the first one in a name counts.
const WORDS: &[(&str, Tool)] = &[
    ("accept", DO),
    ("activate", DO),
    ("add", DO),
    ("adjust", DO),
    ("append", DO),
    ("apply", DO),
    ("approve", DO),
    ("archive", DO),
    ("ask", OTHER),
    ("assign", DO),
    ("await", POLL),
    ("bash", SHELL),
    ("block", DO),
    ("book", DO),
    ("brainstorm", PLAN),
    ("browse", READ),
    ("build", RUN),
    ("buy", DO),
    ("calculate", PLAN),
    ("calculator", PLAN),
    ("call", RUN),
    ("can", READ),
    ("cancel", DO),
    ("change", DO),
    ("check", READ),
    ("clean", DO),
    ("clear", DO),
    ("click", ACT),
    ("close", DO),
    ("code", CODE),
    ("comment", DO),
    ("commit", DO),
    ("compile", RUN),
    ("complete", FINISH),
    ("configure", DO),
    ("connect", DO),
    ("cool", DO),
    ("copy", DO),
    ("count", SEARCH),
    ("create", WRITE),
    ("cursor", READ),
    ("deactivate", DO),
    ("decide", PLAN),
    ("delegate", ACT),
    ("delete", DO),
    ("deploy", DO),
    ("describe", READ),
    ("details", READ),
    ("disable", DO),
    ("disconnect", DO),
    ("discover", SEARCH),
    ("done", FINISH),
    ("double", ACT),
    ("download", READ),
    ("drag", ACT),
    ("drop", DO),
    ("edit", EDIT),
    ("enable", DO),
    ("eval", CODE),
    ("evaluate", CODE),
    ("examine", READ),
    ("exchange", DO),
    ("exec", RUN),
    ("execute", RUN),
    ("expand", READ),
    ("explore", SEARCH),
    ("extract", READ),
    ("fetch", READ),
    ("fill", DO),
    ("filter", SEARCH),
    ("final", FINISH),
    ("find", SEARCH),
    ("finish", FINISH),
    ("format", DO),
    ("get", READ),
    ("give", DO),
    ("glob", SEARCH),
    ("goal", PLAN),
    ("goto", READ),
    ("grant", DO),
    ("grep", SEARCH),
    ("has", READ),
    ("head", READ),
    ("heat", DO),
    ("hover", READ),
    ("identify", READ),
    ("info", READ),
    ("input", DO),
    ("insert", EDIT),
    ("inspect", READ),
    ("install", DO),
    ("interpreter", CODE),
    ("invite", DO),
    ("invoke", RUN),
    ("ipython", CODE),
    ("is", READ),
    ("key", ACT),
    ("label", DO),
    ("launch", ACT),
    ("left", ACT),
    ("lint", TEST),
    ("list", SEARCH),
    ("load", READ),
    ("locate", SEARCH),
    ("lock", DO),
    ("login", ACT),
    ("logout", ACT),
    ("look", READ),
    ("lookup", SEARCH),
    ("make", DO),
    ("mark", DO),
    ("match", SEARCH),
    ("merge", DO),
    ("middle", ACT),
    ("modify", DO),
    ("monitor", POLL),
    ("mouse", ACT),
    ("move", DO),
    ("navigate", READ),
    ("next", PAGE),
    ("note", PLAN),
    ("observe", READ),
    ("open", READ),
    ("order", DO),
    ("overview", READ),
    ("paginate", PAGE),
    ("patch", PATCH),
    ("pause", DO),
    ("pay", DO),
    ("peek", READ),
    ("pick", DO),
    ("plan", PLAN),
    ("poll", POLL),
    ("post", DO),
    ("press", ACT),
    ("preview", READ),
    ("print", READ),
    ("publish", DO),
    ("pull", DO),
    ("purchase", DO),
    ("push", DO),
    ("put", DO),
    ("python", CODE),
    ("query", SEARCH),
    ("read", READ),
    ("reason", PLAN),
    ("reboot", DO),
    ("refuel", DO),
    ("refund", DO),
    ("register", DO),
    ("remove", DO),
    ("rename", DO),
    ("reopen", DO),
    ("replace", EDIT),
    ("reply", DO),
    ("reseat", DO),
    ("reserve", DO),
    ("reset", DO),
    ("restart", DO),
    ("restore", DO),
    ("resume", DO),
    ("retrieve", SEARCH),
    ("return", DO),
    ("revert", DO),
    ("revoke", DO),
    ("right", ACT),
    ("run", RUN),
    ("save", DO),
    ("scan", SEARCH),
    ("schedule", DO),
    ("screenshot", READ),
    ("scroll", PAGE),
    ("search", SEARCH),
    ("select", DO),
    ("sell", DO),
    ("send", DO),
    ("set", DO),
    ("share", DO),
    ("shell", SHELL),
    ("show", READ),
    ("sleep", POLL),
    ("slice", DO),
    ("sql", SQL),
    ("start", ACT),
    ("status", READ),
    ("stop", ACT),
    ("store", DO),
    ("submit", FINISH),
    ("subscribe", DO),
    ("suspend", DO),
    ("switch", DO),
    ("tail", READ),
    ("take", DO),
    ("tap", ACT),
    ("terminal", SHELL),
    ("terminate", ACT),
    ("test", TEST),
    ("tests", TEST),
    ("think", PLAN),
    ("todo", PLAN),
    ("todos", PLAN),
    ("toggle", DO),
    ("transfer", DO),
    ("triple", ACT),
    ("turn", DO),
    ("type", DO),
    ("undo", DO),
    ("uninstall", DO),
    ("unlock", DO),
    ("unzip", DO),
    ("update", DO),
    ("upload", DO),
    ("upsert", DO),
    ("use", DO),
    ("validate", TEST),
    ("verify", TEST),
    ("view", READ),
    ("visit", READ),
    ("wait", POLL),
    ("watch", POLL),
    ("write", WRITE),
    ("zoom", READ),
];

/// Things that are waited for: reading their state is polling.
const JOBS: &[&str] =
    &["background", "build", "deployment", "job", "jobs", "pipeline", "process", "workflow"];

/// Words for the state of such a thing.
const STATES: &[&str] = &["check", "logs", "output", "progress", "result", "status"];

/// A tool's name without the prefixes that clients put in front of it.
pub(super) fn bare(name: &str) -> &str {
    let name = name.trim();
    if let Some(rest) = name.strip_prefix("mcp__") {
        return rest.split_once("__").map_or(rest, |(_, tool)| tool);
    }
    if let Some(rest) = name.strip_prefix("mcp_")
        && rest != "tool"
        && rest != "call"
    {
        return rest.split_once('_').map_or(rest, |(_, tool)| tool);
    }
    let last = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
    if last.is_empty() { name } else { last }
}

/// What a tool does, by its name.
pub(super) fn tool_of(name: &str) -> Tool {
    if name == "functions.exec" {
        return SCRIPT;
    }
    let bare = bare(name);
    Folded::<32>::of(bare).find(NAMES).unwrap_or_else(|| by_words(bare))
}

/// What an unknown name says by its words.
pub(super) fn by_words(name: &str) -> Tool {
    let mut found: Option<Tool> = None;
    let (mut job, mut state) = (false, false);
    for word in Words(name).take(8) {
        let folded = Folded::<16>::of(word);
        let is_in = |list: &[&str]| list.iter().any(|known| folded.equals(known));
        job |= is_in(JOBS);
        state |= is_in(STATES);
        match found {
            None => found = folded.find(WORDS),
            Some(SEARCH) if folded.equals("replace") => found = Some(EDIT),
            Some(_) => {}
        }
    }
    match found {
        Some(found) if job && state && matches!(found.kind, ToolKind::Read | ToolKind::Search) => {
            POLL
        }
        Some(found) => found,
        None => UNKNOWN,
    }
}

/// The words of a name in snake, kebab or camel case.
struct Words<'a>(&'a str);

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.0 = self.0.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let bytes = self.0.as_bytes();
        let mut end = usize::from(!bytes.is_empty());
        while end < bytes.len() && bytes[end].is_ascii_alphanumeric() {
            let upper = bytes[end].is_ascii_uppercase();
            let after_lower = !bytes[end - 1].is_ascii_uppercase();
            let before_lower = bytes.get(end + 1).is_some_and(u8::is_ascii_lowercase);
            if upper && (after_lower || before_lower) {
                break;
            }
            end += 1;
        }
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(NAMES.is_sorted_by_key(|(name, _)| *name));
        assert!(WORDS.is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn names_are_cut_into_words() {
        let cases: [(&str, &[&str]); 6] = [
            ("get_user-details", &["get", "user", "details"]),
            ("findAndReplace", &["find", "And", "Replace"]),
            ("LSPQuery", &["LSP", "Query"]),
            ("Open(cabinet", &["Open", "cabinet"]),
            ("", &[]),
            ("äpfel", &["pfel"]),
        ];
        for (name, words) in cases {
            assert_eq!(Words(name).collect::<Vec<_>>(), words, "{name}");
        }
    }
}
