//! Model Context Protocol servers, in the shape that other programs use for `mcpServers`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steersman_config::Finding;
use steersman_config::document::Document;

use super::file::AgentsFile;
use super::model::is_url;

/// A server as it is written.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct McpFile {
    /// How it is reached. Default: `stdio` with a `command`, `http` with a `url`.
    #[serde(rename = "type")]
    kind: Option<McpKind>,
    /// The program to start.
    command: Option<String>,
    /// Its arguments.
    args: Vec<String>,
    /// Its environment, besides what it needs to run; `${NAME}` is taken from our own.
    env: BTreeMap<String, String>,
    /// Folder to start it in. Default: the workspace.
    cwd: Option<String>,
    /// Address of a server that runs already.
    url: Option<String>,
    /// Headers sent with every request; `${NAME}` is taken from the environment.
    headers: BTreeMap<String, String>,
    /// Time limit of a call. Milliseconds, default 60000.
    #[schemars(range(min = 1, max = 86_400_000))]
    timeout: Option<u64>,
    /// Whether it is left out. Default false.
    disabled: bool,
}

/// How a server is reached, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum McpKind {
    /// A program that is started, spoken to over its standard input and output.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// Streamable HTTP, as some programs call it.
    StreamableHttp,
}

/// A Model Context Protocol server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct McpServer {
    /// How it is reached.
    pub transport: McpTransport,
    /// Time limit of a call. Milliseconds.
    pub timeout_ms: u64,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum McpTransport {
    /// A program that is started.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment; `${NAME}` is yet to be put in.
        env: BTreeMap<String, String>,
        /// Folder to start it in; `None` is the workspace.
        cwd: Option<String>,
    },
    /// A server that runs already.
    Http {
        /// Its address.
        url: String,
        /// Headers sent with every request; `${NAME}` is yet to be put in.
        headers: BTreeMap<String, String>,
    },
}

/// The valid servers below a path; those that are disabled are left out.
pub(super) fn read(
    path: &[&str],
    servers: BTreeMap<String, McpFile>,
    document: &Document<AgentsFile>,
    findings: &mut Vec<Finding>,
) -> BTreeMap<String, McpServer> {
    let mut valid = BTreeMap::new();
    for (name, file) in servers {
        let place: Vec<&str> = path.iter().copied().chain([name.as_str()]).collect();
        let error = |key: Option<&str>, what: String| {
            let place: Vec<&str> = place.iter().copied().chain(key).collect();
            document.error(&place, what)
        };
        let disabled = file.disabled;
        match transport(file) {
            Ok((transport, timeout_ms)) => {
                if !disabled {
                    valid.insert(name, McpServer { transport, timeout_ms });
                }
            }
            Err((key, what)) => findings.push(error(key, what)),
        }
    }
    valid
}

type Refusal = (Option<&'static str>, String);

fn transport(file: McpFile) -> Result<(McpTransport, u64), Refusal> {
    let McpFile { kind, command, args, env, cwd, url, headers, timeout, .. } = file;
    let timeout_ms = timeout.unwrap_or(60_000);
    let refuse = |key, what: &str| Err((key, what.to_owned()));
    let http = matches!(kind, Some(McpKind::Http | McpKind::StreamableHttp));
    match (command, url) {
        (Some(_), Some(_)) => refuse(Some("url"), "`command` and `url` exclude each other"),
        (None, None) => refuse(None, "the server needs a `command` or a `url`"),
        (Some(_), None) if http => refuse(Some("type"), "a server with a `command` is `stdio`"),
        (None, Some(_)) if kind == Some(McpKind::Stdio) => {
            refuse(Some("type"), "a server with a `url` is `http`")
        }
        (Some(command), None) if command.trim().is_empty() => {
            refuse(Some("command"), "\"\" is not allowed: a program")
        }
        (Some(_), None) if !headers.is_empty() => {
            refuse(Some("headers"), "only servers with a `url` have headers")
        }
        (Some(command), None) => Ok((McpTransport::Stdio { command, args, env, cwd }, timeout_ms)),
        (None, Some(url)) if !is_url(&url) => {
            let what = "not allowed: an address that begins with http:// or https://";
            Err((Some("url"), format!("{url} is {what}")))
        }
        (None, Some(_)) if !args.is_empty() => {
            refuse(Some("args"), "only servers with a `command` have arguments")
        }
        (None, Some(_)) if !env.is_empty() => {
            refuse(Some("env"), "only servers with a `command` have an environment")
        }
        (None, Some(url)) => Ok((McpTransport::Http { url, headers }, timeout_ms)),
    }
}
