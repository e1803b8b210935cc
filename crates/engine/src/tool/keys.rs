//! What the arguments of tools are called: the roles of argument names.

use super::folded::{Folded, Index};

/// What an argument means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing in particular; part of what the call is.
    #[default]
    Plain,
    /// What a combined tool is asked to do.
    Action,
    /// A shell command, an argument vector, or the sub-command of a combined tool.
    Command,
    /// An element of an argument vector.
    Argv,
    /// Several shell commands.
    Commands,
    /// Source code to run.
    Code,
    /// A file or folder.
    Path,
    /// A folder that commands run in.
    Workdir,
    /// A web address.
    Url,
    /// What is looked for.
    Query,
    /// What is looked for, or the text to be replaced.
    Find,
    /// The text to be replaced.
    Old,
    /// The text that replaces or is inserted.
    New,
    /// A patch, or a whole answer of a free-form tool.
    Text,
    /// Text in place of JSON: lines of `key: value`.
    Raw,
    /// First line.
    Start,
    /// Last line.
    End,
    /// Number of lines.
    Limit,
    /// First and last line.
    Range,
    /// Keys typed into a running program.
    Chars,
    /// The tool behind a wrapper.
    Name,
    /// The arguments behind a wrapper.
    Inner,
    /// Chatter that never distinguishes two calls.
    Noise,
    /// Chatter next to a command, path, address or query; content otherwise.
    Soft,
}

/// Argument names in lower case without separators.
const ROLES: &[(&str, Role)] = &[
    ("absolutepath", Role::Path),
    ("action", Role::Action),
    ("args", Role::Inner),
    ("arguments", Role::Inner),
    ("bashcommand", Role::Command),
    ("callid", Role::Noise),
    ("chars", Role::Chars),
    ("classname", Role::Query),
    ("cmd", Role::Command),
    ("code", Role::Code),
    ("codeedit", Role::New),
    ("codesnippet", Role::Query),
    ("command", Role::Command),
    ("commandline", Role::Command),
    ("commands", Role::Commands),
    ("comment", Role::Soft),
    ("content", Role::New),
    ("contentpattern", Role::Query),
    ("contents", Role::New),
    ("cwd", Role::Workdir),
    ("description", Role::Soft),
    ("diff", Role::Text),
    ("dir", Role::Path),
    ("directory", Role::Path),
    ("dirpath", Role::Path),
    ("edit", Role::Text),
    ("end", Role::End),
    ("endline", Role::End),
    ("endlineone", Role::End),
    ("endlineoneindexedinclusive", Role::End),
    ("explanation", Role::Soft),
    ("expression", Role::Query),
    ("file", Role::Path),
    ("filename", Role::Path),
    ("filepath", Role::Path),
    ("filepaths", Role::Path),
    ("files", Role::Path),
    ("filetext", Role::New),
    ("find", Role::Find),
    ("folder", Role::Path),
    ("folderpath", Role::Path),
    ("fromline", Role::Start),
    ("functionname", Role::Query),
    ("goal", Role::Soft),
    ("href", Role::Url),
    ("initialcontent", Role::New),
    ("input", Role::Text),
    ("insertline", Role::Plain),
    ("inserttext", Role::New),
    ("instruction", Role::Soft),
    ("instructions", Role::Soft),
    ("justification", Role::Soft),
    ("keywords", Role::Query),
    ("limit", Role::Limit),
    ("line", Role::Start),
    ("lineend", Role::End),
    ("linenumber", Role::Start),
    ("linerange", Role::Range),
    ("lineranges", Role::Range),
    ("linestart", Role::Start),
    ("maxoutputtokens", Role::Noise),
    ("maxresults", Role::Plain),
    ("methodname", Role::Query),
    ("name", Role::Name),
    ("newcode", Role::New),
    ("newcontent", Role::New),
    ("newsource", Role::New),
    ("newstr", Role::New),
    ("newstring", Role::New),
    ("newtext", Role::New),
    ("notebookpath", Role::Path),
    ("numlines", Role::Limit),
    ("offset", Role::Start),
    ("oldcode", Role::Old),
    ("oldcontent", Role::Old),
    ("oldstr", Role::Old),
    ("oldstring", Role::Old),
    ("oldtext", Role::Old),
    ("operation", Role::Action),
    ("patch", Role::Text),
    ("patchtext", Role::Text),
    ("path", Role::Path),
    ("paths", Role::Path),
    ("pattern", Role::Query),
    ("purpose", Role::Soft),
    ("q", Role::Query),
    ("queries", Role::Query),
    ("query", Role::Query),
    ("raw", Role::Raw),
    ("reasoning", Role::Soft),
    ("regex", Role::Query),
    ("replace", Role::New),
    ("replacement", Role::New),
    ("replacementcode", Role::New),
    ("requestid", Role::Noise),
    ("script", Role::Code),
    ("search", Role::Find),
    ("searchquery", Role::Query),
    ("searchterm", Role::Query),
    ("securityrisk", Role::Noise),
    ("shellcommand", Role::Command),
    ("source", Role::Code),
    ("sql", Role::Code),
    ("start", Role::Start),
    ("startline", Role::Start),
    ("startlineoneindexed", Role::Start),
    ("statement", Role::Code),
    ("summary", Role::Soft),
    ("symbol", Role::Query),
    ("symbolname", Role::Query),
    ("target", Role::Path),
    ("targetfile", Role::Path),
    ("targetfilepath", Role::Path),
    ("thought", Role::Soft),
    ("timeout", Role::Soft),
    ("timeoutms", Role::Soft),
    ("timeoutseconds", Role::Soft),
    ("timestamp", Role::Noise),
    ("toline", Role::End),
    ("toolcallid", Role::Noise),
    ("toolname", Role::Name),
    ("toolsummary", Role::Noise),
    ("traceid", Role::Noise),
    ("uri", Role::Path),
    ("url", Role::Url),
    ("urls", Role::Url),
    ("viewrange", Role::Range),
    ("waitforprevioustools", Role::Noise),
    ("with", Role::New),
    ("workdir", Role::Workdir),
    ("workingdirectory", Role::Workdir),
    ("yieldtimems", Role::Noise),
];

static ROLE_INDEX: Index<512> = Index::of(ROLES);

/// The role of an argument by its name.
pub(super) fn role_of(key: &str) -> Role {
    Folded::<32>::of(key).find(ROLES, &ROLE_INDEX).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_every_spelling() {
        assert!(ROLES.is_sorted_by_key(|(name, _)| *name));
        let cases = [
            ("file_path", Role::Path),
            ("filePath", Role::Path),
            ("old-string", Role::Old),
            ("startLine", Role::Start),
            ("view_range", Role::Range),
            ("reservation_id", Role::Plain),
            ("", Role::Plain),
        ];
        for (key, role) in cases {
            assert_eq!(role_of(key), role, "{key}");
        }
    }
}
