//! Tools of other programs in a run: Model Context Protocol servers, started with it and ended with
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use steersman_agent::tools::Foreign;
use steersman_agent::{ForeignTool, ToolOutcome, ToolRun, Work};
use steersman_mcp::{Connection, McpConfig, connect};
use steersman_prompt::{McpServer, McpTransport, Registry};
use steersman_wire::ToolSpec;
use tokio::task::JoinSet;

use super::face::count;

/// How the names of all these tools begin.
pub(super) const PREFIX: &str = "mcp__";

/// The longest time limit of a call that is passed on, in milliseconds: one hour.
const MAX_TIMEOUT_MS: u64 = 3_600_000;

/// Most bytes of a file of servers.
const MAX_FILE: u64 = 1024 * 1024;

/// A server that a run wants, and who may use it.
struct Wanted {
    config: McpConfig,
    /// `None` is every agent.
    only: Option<BTreeSet<String>>,
}

/// Which servers a run wants: those of the agents that may act, and those of a file.
#[derive(Default)]
pub(super) struct Wish {
    wanted: BTreeMap<String, Wanted>,
}

impl Wish {
    /// Adds the servers of a file, for every agent.
    pub(super) fn file(&mut self, path: &Path) -> Result<(), String> {
        let at = |why: String| format!("--mcp {}: {why}", path.display());
        let size = std::fs::metadata(path).map_err(|error| at(error.to_string()))?.len();
        if size > MAX_FILE {
            return Err(at(format!("{size} bytes; at most {MAX_FILE} are read")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
        let configs = McpConfig::read_all(&text, &look_up).map_err(|why| at(why.to_string()))?;
        if configs.is_empty() {
            return Err(at("it has no `mcpServers`".to_owned()));
        }
        for config in configs.into_iter().filter(|config| config.enabled) {
            // The file stands above the registry: it is named for this run.
            self.wanted.insert(config.name.clone(), Wanted { config, only: None });
        }
        Ok(())
    }

    /// Adds the servers of the agent that begins and of all that may come after it.
    pub(super) fn registry(&mut self, registry: &Registry, begins: &str) -> Result<(), String> {
        let mut names = vec![begins.to_owned()];
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            at += 1;
            let agent = registry.agent(&name).map_err(|error| error.to_string())?;
            let servers = object(&agent.mcp_servers);
            let configs = McpConfig::read_all(&servers.to_string(), &look_up)
                .map_err(|error| format!("agent {name}: {error}"))?;
            configs.into_iter().try_for_each(|config| self.agent(&name, config))?;
            for next in &agent.may_hand_over_to {
                if !names.contains(next) {
                    names.push(next.clone());
                }
            }
        }
        Ok(())
    }

    fn agent(&mut self, agent: &str, config: McpConfig) -> Result<(), String> {
        let name = config.name.clone();
        let new = || Wanted { config: config.clone(), only: Some(BTreeSet::new()) };
        let wanted = self.wanted.entry(name.clone()).or_insert_with(new);
        let Some(only) = &mut wanted.only else { return Ok(()) };
        if wanted.config != config {
            return Err(format!(
                "agent {agent}: MCP server `{name}` is another one than that of {}; two servers \
                 need two names",
                only.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
            ));
        }
        only.insert(agent.to_owned());
        Ok(())
    }
}

fn look_up(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Servers of the registry in the shape of other clients, so that there is one reader of them.
fn object(servers: &BTreeMap<String, McpServer>) -> Value {
    let written = |server: &McpServer| {
        let mut object = match &server.transport {
            McpTransport::Stdio { command, args, env, cwd } => {
                json!({"command": command, "args": args, "env": env, "cwd": cwd})
            }
            McpTransport::Http { url, headers } => json!({"url": url, "headers": headers}),
        };
        object["timeout_ms"] = server.timeout_ms.clamp(1, MAX_TIMEOUT_MS).into();
        object
    };
    let servers: Map<_, _> =
        servers.iter().map(|(name, server)| (name.clone(), written(server))).collect();
    json!({ "mcpServers": servers })
}

/// A tool of a server that runs.
struct Behind {
    server: Arc<Connection>,
    /// The server's own name of it.
    name: String,
}

/// The servers of a run. Dropping it ends them at once; [`Servers::close`] is gentler.
#[derive(Default)]
pub(super) struct Servers {
    running: Mutex<Vec<Arc<Connection>>>,
    tools: Mutex<BTreeMap<String, Behind>>,
    offers: Vec<ForeignTool>,
    read_only: BTreeSet<String>,
}

impl Servers {
    /// Starts the servers side by side and lists their tools. One that does not start is told, and
    /// the run goes on without it unless it is required.
    pub(super) async fn start(
        wish: Wish,
        folder: &Path,
        required: bool,
        notices: &mut Vec<String>,
    ) -> Result<Arc<Self>, String> {
        if wish.wanted.is_empty() {
            return Ok(Arc::default());
        }
        let names: Vec<&str> = wish.wanted.keys().map(String::as_str).collect();
        crate::screen::say(&format!(
            "starting {}: {}",
            count(names.len() as u64, "MCP server"),
            names.join(", ")
        ));
        let mut starting = JoinSet::new();
        for wanted in wish.wanted.into_values() {
            let folder = folder.to_owned();
            starting.spawn(async move {
                let begun = async {
                    let server = connect(&wanted.config, &folder).await?;
                    let listing = server.tools().await?;
                    Ok::<_, steersman_mcp::McpError>((server, listing))
                };
                let begun = begun.await;
                (wanted, begun)
            });
        }
        let mut servers = Self::default();
        // Dropped on Ctrl-C, and with it what was started so far.
        while let Some(begun) = interruptible(starting.join_next()).await? {
            let (wanted, begun) = begun.map_err(|error| error.to_string())?;
            match begun {
                Ok((server, listing)) => servers.add(wanted, server, listing, notices),
                Err(error) if required => return Err(error.to_string()),
                Err(error) => notices.push(format!("{error}; the run goes on without its tools")),
            }
        }
        servers.offers.sort_by(|a, b| a.spec.name.cmp(&b.spec.name));
        notices.sort();
        Ok(Arc::new(servers))
    }

    fn add(
        &mut self,
        wanted: Wanted,
        server: Connection,
        listing: steersman_mcp::Listing,
        notices: &mut Vec<String>,
    ) {
        let server = Arc::new(server);
        let told = count(listing.tools.len() as u64, "tool");
        notices.push(format!("MCP server `{}` offers {told}", wanted.config.name));
        for left_out in listing.left_out {
            notices.push(format!("MCP server `{}`: left out {left_out}", wanted.config.name));
        }
        let tools = self.tools.get_mut().unwrap_or_else(PoisonError::into_inner);
        for tool in listing.tools {
            let parameters = serde_json::from_str(&tool.schema);
            let parameters = parameters.unwrap_or_else(|_| json!({"type": "object"}));
            let (name, description) = (tool.prefixed.clone(), tool.description);
            let spec = ToolSpec { name, description, parameters };
            self.offers.push(ForeignTool { spec, only: wanted.only.clone() });
            if tool.read_only {
                self.read_only.insert(tool.prefixed.clone());
            }
            tools.insert(tool.prefixed, Behind { server: Arc::clone(&server), name: tool.name });
        }
        self.running.get_mut().unwrap_or_else(PoisonError::into_inner).push(server);
    }

    /// What agents are offered.
    pub(super) fn offers(&self) -> Vec<ForeignTool> {
        self.offers.clone()
    }

    /// Tools of which their servers say that they change nothing. A stranger's word.
    pub(super) fn read_only(&self) -> BTreeSet<String> {
        self.read_only.clone()
    }

    /// Says good-bye to every server; each has 3 seconds.
    pub(super) async fn close(&self) {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let running =
            std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        let mut closing = JoinSet::new();
        // Whoever still holds one was given up already; it ends with the last holder.
        for server in running.into_iter().filter_map(Arc::into_inner) {
            closing.spawn(server.close());
        }
        while closing.join_next().await.is_some() {}
    }
}

/// Waits for something unless Ctrl-C comes first.
async fn interruptible<T>(work: impl Future<Output = T>) -> Result<T, String> {
    tokio::select! {
        done = work => Ok(done),
        _ = tokio::signal::ctrl_c() => Err("left before the run began".to_owned()),
    }
}

/// The servers as a toolbox.
pub(super) struct Tools(pub(super) Arc<Servers>);

impl Foreign for Tools {
    fn call<'a>(&'a self, run: &'a ToolRun) -> Option<Work<'a, ToolOutcome>> {
        if !run.name.starts_with(PREFIX) {
            return None;
        }
        let behind = {
            let tools = self.0.tools.lock().unwrap_or_else(PoisonError::into_inner);
            tools.get(&run.name).map(|tool| (Arc::clone(&tool.server), tool.name.clone()))
        };
        Some(Box::pin(async move {
            let Some((server, name)) = behind else {
                let name = &run.name;
                return ToolOutcome::error(format!("{name}: its MCP server is not there"));
            };
            match server.call(&name, &run.arguments, std::future::pending()).await {
                Ok(answer) if answer.is_error => ToolOutcome::error(answer.text),
                Ok(answer) => ToolOutcome::ok(answer.text),
                Err(error) => ToolOutcome::error(error.to_string()),
            }
        }))
    }
}
