//! The environment of commands: no secrets, nobody to ask, nothing to page through.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::ShellOptions;

/// Parts of names that hold secrets, in capitals.
const SECRET: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH_SOCK"];
/// What names start with whose values are, or lead to, credentials.
const SECRET_START: [&str; 5] =
    ["AWS_", "AZURE_", "GOOGLE_APPLICATION_", "CLOUDSDK_AUTH_", "STEERSMAN_"];
/// Whole words of names that hold secrets: a personal access token, a password.
const SECRET_WORD: [&str; 3] = ["PAT", "PWD", "PASS"];

/// What is set for every command. `CI` is not: it would freeze lock files and stop tests from
/// writing snapshots, and without a terminal nothing waits for a key anyway.
const SET: [(&str, &str); 10] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    // An editor cannot be used. One that keeps the text as it is lets a rebase or merge go on.
    ("GIT_EDITOR", "true"),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
];

/// The environment of commands, from the process's own.
pub(super) fn environment(
    own: impl Iterator<Item = (OsString, OsString)>,
    scratch: &Path,
    options: &ShellOptions,
) -> Vec<(OsString, OsString)> {
    let allowed = |name: &OsStr| options.allowed_variables.iter().any(|known| name == &**known);
    let kept = own.filter(|(name, _)| allowed(name) || !is_secret(name));
    let mut variables: Vec<_> = kept.collect();
    let set = SET.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let temporary = ["TMPDIR", "TMP", "TEMP"].map(|name| (name.into(), scratch.into()));
    let chosen = options.variables.iter();
    let chosen = chosen.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    for (name, value) in set.chain(temporary).chain(chosen) {
        variables.retain(|(known, _)| *known != name);
        variables.push((name, value));
    }
    variables
}

/// Whether a variable of this name may hold a secret.
fn is_secret(name: &OsStr) -> bool {
    let name = name.as_bytes().to_ascii_uppercase();
    let name = String::from_utf8_lossy(&name);
    if matches!(&*name, "PWD" | "OLDPWD") {
        return false;
    }
    SECRET.iter().any(|part| name.contains(part))
        || SECRET_START.iter().any(|start| name.starts_with(start))
        || name.split('_').any(|word| SECRET_WORD.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(own: &[(&str, &str)], allowed: &[&str], kept: &[&str]) {
        let options = ShellOptions {
            allowed_variables: allowed.iter().map(|name| (*name).to_owned()).collect(),
            variables: vec![("EXTRA".into(), "1".into())],
            ..ShellOptions::default()
        };
        let own = own.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let variables = environment(own, Path::new("/scratch"), &options);
        let fixed: Vec<&str> = SET.iter().map(|(name, _)| *name).collect();
        let names: Vec<String> = variables
            .iter()
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .filter(|name| !fixed.contains(&&**name))
            .collect();
        let after = ["TMPDIR", "TMP", "TEMP", "EXTRA"];
        let wanted: Vec<&str> = kept.iter().copied().chain(after).collect();
        assert_eq!(names, wanted);
    }

    #[test]
    fn secrets_are_taken_out() {
        let own = [
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("OPENAI_API_KEY", "x"),
            ("GITHUB_TOKEN", "x"),
            ("github_token", "x"),
            ("GH_PAT", "x"),
            ("AWS_PROFILE", "x"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "x"),
            ("DB_PASSWORD", "x"),
            ("MYSQL_PWD", "x"),
            ("PWD", "/"),
            ("SSH_AUTH_SOCK", "x"),
            ("CARGO_HOME", "x"),
            ("RUSTFLAGS", "x"),
        ];
        check(&own, &[], &["PATH", "HOME", "PWD", "CARGO_HOME", "RUSTFLAGS"]);
        check(&own[..4], &["GITHUB_TOKEN"], &["PATH", "HOME", "GITHUB_TOKEN"]);
    }

    #[test]
    fn what_is_set_wins_over_what_was_there() {
        let own = [("TERM", "xterm"), ("TMPDIR", "/elsewhere"), ("EXTRA", "0")];
        check(&own, &[], &[]);
    }
}
