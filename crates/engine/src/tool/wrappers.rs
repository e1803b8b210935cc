//! What stands before a program: keywords, assignments, `sudo`, `timeout` and their like.

use super::programs::{Program, program_of};

/// The program of a simple command and its operands, behind keywords, assignments and wrappers.
pub(super) fn command_of<'w, 'a>(words: &'w [&'a str]) -> (&'a str, &'w [&'a str]) {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let word = word.trim_start_matches(['(', '{', '!']);
        at += 1;
        match word {
            "" | "then" | "else" | "do" | "if" | "elif" | "while" | "until" | "time" => {}
            "for" | "case" | "esac" | "done" | "fi" | "function" | "}" | ")" | "in" => {
                return ("", &[]);
            }
            _ if is_assignment(word) => {}
            _ => {
                let base = word.rsplit('/').next().unwrap_or(word);
                let runs_inner = matches!(
                    (base, words.get(at)),
                    ("uv" | "poetry" | "pipenv" | "pdm" | "hatch" | "rye" | "conda", Some(&"run"))
                        | ("bundle" | "npm" | "pnpm" | "yarn", Some(&"exec"))
                );
                if runs_inner {
                    at += 1;
                } else if program_of(base) != Some(Program::Wraps) {
                    return (word, &words[at..]);
                }
                let inner = skip_options(base, &words[at..]);
                if inner.is_empty() {
                    return (word, &words[at..]);
                }
                at = words.len() - inner.len();
            }
        }
    }
    ("", &[])
}

/// What follows the options of a wrapper such as `timeout -s 9 30` or `xargs -n 1`.
fn skip_options<'w, 'a>(wrapper: &str, words: &'w [&'a str]) -> &'w [&'a str] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let takes_value = match wrapper {
            "xargs" => matches!(*word, "-I" | "-n" | "-P" | "-L" | "-d" | "-s" | "-a"),
            "timeout" => matches!(*word, "-s" | "-k" | "--signal" | "--kill-after"),
            "nice" => *word == "-n",
            "sudo" | "doas" => matches!(*word, "-u" | "-g" | "-C"),
            "conda" => matches!(*word, "-n" | "-p" | "--name" | "--prefix"),
            "ssh" => matches!(*word, "-p" | "-i" | "-o" | "-l"),
            "uv" | "uvx" => matches!(*word, "--with" | "--python" | "-p" | "--extra"),
            _ => false,
        };
        if takes_value {
            at += 2;
        } else if word.starts_with('-') {
            at += 1;
        } else {
            break;
        }
    }
    // `timeout` has a duration, `ssh` a host before the command.
    at += usize::from(matches!(wrapper, "timeout" | "ssh"));
    words.get(at..).unwrap_or_default()
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn programs_are_found_behind_their_wrappers() {
        let cases = [
            ("A=1 B=2 ls -l", "ls", "-l"),
            ("sudo -u root rm x", "rm", "x"),
            ("timeout -s 9 30 pytest", "pytest", ""),
            ("xargs -I {} sed -i s/a/b/ {}", "sed", "-i s/a/b/ {}"),
            ("poetry run pytest -q", "pytest", "-q"),
            ("conda run -n env python x.py", "python", "x.py"),
            ("while ! curl x", "curl", "x"),
            ("for f in a", "", ""),
            ("sudo", "sudo", ""),
            ("A=1", "", ""),
        ];
        for (line, program, operands) in cases {
            let words: Vec<_> = line.split(' ').collect();
            let (found, rest) = command_of(&words);
            assert_eq!((found, rest.join(" ").as_str()), (program, operands), "{line}");
        }
    }
}
