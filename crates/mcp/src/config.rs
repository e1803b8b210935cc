//! Which servers there are, as users write it down.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use crate::expand::expand;

/// The most bytes of a server's name.
const MAX_NAME_BYTES: usize = 32;
/// Bounds of time limits, in milliseconds.
const TIMEOUTS_MS: std::ops::RangeInclusive<u64> = 1..=3_600_000;
/// How long a call may take unless the file says otherwise, in milliseconds.
const DEFAULT_TIMEOUT_MS: u64 = 60_000;
/// How long a server may take to start unless the file says otherwise, in milliseconds: it may
/// have to be downloaded first.
const DEFAULT_START_TIMEOUT_MS: u64 = 30_000;

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpConfig {
    /// What it is called: 1 to 32 of `a-z`, `A-Z`, `0-9`, `_` and `-`, without `__`.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// Which of its tools are offered.
    pub tools: ToolFilter,
    /// How long listing its tools or one call may take, in milliseconds, 1 to 3,600,000.
    /// Default: 60,000.
    pub timeout_ms: u64,
    /// How long it may take to start and greet, in milliseconds, 1 to 3,600,000. Default: 30,000.
    pub start_timeout_ms: u64,
    /// Whether it is used at all. Default: true.
    pub enabled: bool,
}

/// How a server is reached. Variables are replaced already.
#[derive(Clone, PartialEq, Eq)]
pub enum Reach {
    /// A program that speaks over its standard input and output.
    Command {
        /// The program: a path, or a name looked for in `PATH`.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// What its environment has besides `PATH`, `HOME` and the like.
        env: BTreeMap<String, String>,
        /// Its folder, relative to the session's. `None`: the session's.
        cwd: Option<PathBuf>,
    },
    /// A server at a URL that speaks the streamable HTTP transport.
    Http {
        /// Where, `http://` or `https://`.
        url: String,
        /// Headers of each request.
        headers: BTreeMap<String, String>,
    },
}

impl std::fmt::Debug for Reach {
    /// Values of variables and headers are often secret, so they are not shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, fields) = match self {
            Self::Command { program, args, env, cwd } => {
                let names: Vec<&String> = env.keys().collect();
                ("Command", format!("{program:?} {args:?} env {names:?} cwd {cwd:?}"))
            }
            Self::Http { url, headers } => {
                let names: Vec<&String> = headers.keys().collect();
                ("Http", format!("{url:?} headers {names:?}"))
            }
        };
        f.debug_tuple(name).field(&fields).finish()
    }
}

/// Which tools of a server are offered. A pattern is a name; a `*` at its end stands for anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these. `None`: all.
    pub allow: Option<Vec<String>>,
    /// Not these, even if allowed.
    pub deny: Vec<String>,
}

impl ToolFilter {
    /// Whether a tool is offered.
    #[must_use]
    pub fn lets_through(&self, tool: &str) -> bool {
        let fits = |pattern: &String| match pattern.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => tool == pattern,
        };
        self.allow.as_ref().is_none_or(|allow| allow.iter().any(fits))
            && !self.deny.iter().any(fits)
    }
}

/// What is wrong with the configuration of servers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text is not the JSON it should be.
    #[error("mcpServers: {0}")]
    Shape(String),
    /// One server's part cannot be used.
    #[error("mcpServers.{server}{}: {why}", key.map(|key| format!(".{key}")).unwrap_or_default())]
    Server {
        /// The server's name.
        server: String,
        /// The key that is wrong. `None`: the server as a whole.
        key: Option<&'static str>,
        /// What is wrong, and what is allowed.
        why: String,
    },
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers", default)]
    servers: BTreeMap<String, serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    allow: Option<Vec<String>>,
    #[serde(default)]
    deny: Vec<String>,
    timeout_ms: Option<u64>,
    start_timeout_ms: Option<u64>,
    enabled: Option<bool>,
    disabled: Option<bool>,
}

impl McpConfig {
    /// Reads a JSON object with a key `mcpServers`, ordered by name. `${NAME}` and
    /// `${NAME:-default}` in commands, arguments, variables, URLs and headers are replaced by what
    /// `look_up` knows, usually the environment; of a server that is not enabled, nothing is.
    ///
    /// # Errors
    /// What is wrong with which key of which server, and what is allowed.
    pub fn read_all(
        json: &str,
        look_up: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<Self>, ConfigError> {
        let file: File =
            serde_json::from_str(json).map_err(|error| ConfigError::Shape(error.to_string()))?;
        file.servers.into_iter().map(|(name, part)| read_one(name, part, look_up)).collect()
    }
}

fn read_one(
    name: String,
    part: serde_json::Value,
    look_up: &dyn Fn(&str) -> Option<String>,
) -> Result<McpConfig, ConfigError> {
    let fault = |key, why: String| ConfigError::Server { server: name.clone(), key, why };
    check_name(&name).map_err(|why| fault(None, why))?;
    let raw: Raw = serde_json::from_value(part).map_err(|error| fault(None, error.to_string()))?;
    let enabled = raw.enabled.unwrap_or(true) && !raw.disabled.unwrap_or(false);
    let timeout = |key, value: Option<u64>, default| {
        let ms = value.unwrap_or(default);
        let why = || format!("{ms}; 1 to 3600000 milliseconds are allowed");
        if TIMEOUTS_MS.contains(&ms) { Ok(ms) } else { Err(fault(Some(key), why())) }
    };
    let timeout_ms = timeout("timeout_ms", raw.timeout_ms, DEFAULT_TIMEOUT_MS)?;
    let start_timeout_ms =
        timeout("start_timeout_ms", raw.start_timeout_ms, DEFAULT_START_TIMEOUT_MS)?;
    let tools = ToolFilter { allow: raw.allow.clone(), deny: raw.deny.clone() };
    let keep = |text: &str| Ok(text.to_owned());
    let replace = |text: &str| expand(text, look_up);
    let value: &dyn Fn(&str) -> Result<String, String> = if enabled { &replace } else { &keep };
    let reach = read_reach(raw, value).map_err(|(key, why)| fault(key, why))?;
    Ok(McpConfig { name, reach, tools, timeout_ms, start_timeout_ms, enabled })
}

type Fault = (Option<&'static str>, String);

fn read_reach(raw: Raw, value: &dyn Fn(&str) -> Result<String, String>) -> Result<Reach, Fault> {
    let of = |key: &'static str| move |why: String| (Some(key), why);
    let map = |key: &'static str, texts: BTreeMap<String, String>| {
        let pairs = texts.into_iter().map(|(name, text)| {
            let text = value(&text).map_err(|why| (Some(key), format!("`{name}`: {why}")))?;
            Ok((name, text))
        });
        pairs.collect::<Result<BTreeMap<String, String>, Fault>>()
    };
    match (raw.command, raw.url) {
        (Some(command), None) => {
            check_kind(raw.kind.as_deref(), &["stdio"]).map_err(of("type"))?;
            let args = raw.args.iter().map(|text| value(text)).collect::<Result<_, _>>();
            let cwd = raw.cwd.map(|text| value(&text)).transpose().map_err(of("cwd"))?;
            let program = value(&command).map_err(of("command"))?;
            if program.is_empty() {
                return Err((Some("command"), "empty; name a program".to_owned()));
            }
            Ok(Reach::Command {
                program,
                args: args.map_err(of("args"))?,
                env: map("env", raw.env)?,
                cwd: cwd.map(PathBuf::from),
            })
        }
        (None, Some(url)) => {
            let kinds = ["http", "streamable-http", "streamableHttp"];
            check_kind(raw.kind.as_deref(), &kinds).map_err(of("type"))?;
            let url = value(&url).map_err(of("url"))?;
            if !url.starts_with("http://") && !url.starts_with("https://") {
                let why = "has to start with `http://` or `https://`".to_owned();
                return Err((Some("url"), why));
            }
            Ok(Reach::Http { url, headers: map("headers", raw.headers)? })
        }
        (Some(_), Some(_)) => {
            Err((None, "has both `command` and `url`; one of them is allowed".to_owned()))
        }
        (None, None) => Err((None, "has neither `command` nor `url`".to_owned())),
    }
}

fn check_kind(kind: Option<&str>, allowed: &[&str]) -> Result<(), String> {
    match kind {
        Some(kind) if !allowed.contains(&kind) => {
            Err(format!("`{kind}`; allowed here: {}", allowed.join(", ")))
        }
        _ => Ok(()),
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let fits = (1..=MAX_NAME_BYTES).contains(&name.len());
    if fits && name.chars().all(plain) && !name.contains("__") {
        return Ok(());
    }
    Err("the name has to be 1 to 32 of a-z, A-Z, 0-9, `_` and `-`, without `__`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Vec<McpConfig>, String> {
        let look_up = |name: &str| (name == "KEY").then(|| "secret".to_owned());
        McpConfig::read_all(json, &look_up).map_err(|error| error.to_string())
    }

    #[test]
    fn servers_are_read_as_other_clients_write_them() {
        let servers = read(
            r#"{"mcpServers": {
                "web": {"type": "http", "url": "https://x.example/mcp",
                        "headers": {"Authorization": "Bearer ${KEY}"}, "timeout_ms": 5},
                "files": {"command": "npx", "args": ["-y", "${DIR:-/tmp}"], "env": {"A": "b"},
                          "allow": ["read_*", "list"], "deny": ["read_all"]},
                "off": {"command": "${UNSET}", "disabled": true}
            }, "other": 1}"#,
        )
        .unwrap();
        let [files, off, web] = &servers[..] else { panic!("{servers:?}") };
        let expected = Reach::Command {
            program: "npx".to_owned(),
            args: vec!["-y".to_owned(), "/tmp".to_owned()],
            env: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
            cwd: None,
        };
        assert_eq!(files.reach, expected);
        let offered = ["read_one", "read_all", "list", "lists", "write"];
        let offered = offered.into_iter().filter(|tool| files.tools.lets_through(tool));
        assert_eq!(offered.collect::<Vec<_>>(), ["read_one", "list"]);
        assert!(!off.enabled);
        assert_eq!((web.timeout_ms, web.start_timeout_ms), (5, 30_000));
        let Reach::Http { headers, .. } = &web.reach else { panic!("{web:?}") };
        assert_eq!(headers["Authorization"], "Bearer secret");
        assert!(!format!("{web:?}").contains("secret"));
    }

    fn refused(server: &str, expected: &str) {
        let error = read(&format!(r#"{{"mcpServers": {{{server}}}}}"#)).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn faults_are_named_with_server_and_key() {
        assert!(read("[").unwrap_err().starts_with("mcpServers: EOF"));
        refused(r#""a b": {"command": "x"}"#, "mcpServers.a b: the name has to be");
        refused(r#""a__b": {"command": "x"}"#, "mcpServers.a__b: the name");
        refused(r#""a": {}"#, "mcpServers.a: has neither");
        refused(r#""a": {"command": "x", "url": "http://x"}"#, "mcpServers.a: has both");
        refused(r#""a": {"command": "x", "arg": []}"#, "unknown field `arg`, expected one of");
        refused(r#""a": {"command": 1}"#, "invalid type: integer `1`");
        refused(r#""a": {"command": "x", "type": "sse"}"#, "mcpServers.a.type: `sse`; allowed");
        refused(r#""a": {"url": "ftp://x"}"#, "mcpServers.a.url: has to start");
        refused(r#""a": {"command": "x", "timeout_ms": 0}"#, "mcpServers.a.timeout_ms: 0; 1 to");
        refused(
            r#""a": {"command": "x", "env": {"K": "${NOPE}"}}"#,
            "mcpServers.a.env: `K`: the environment variable `NOPE` is not set",
        );
    }
}
