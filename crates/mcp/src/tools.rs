//! What a server offers.

use rmcp::model::Tool as Wire;

use crate::config::ToolFilter;
use crate::error::words;
use crate::name::prefixed;

/// The most tools of one server; further ones are left out.
pub const MAX_TOOLS: usize = 512;
/// The most bytes of a tool's schema, 64 KiB; a tool with a larger one is left out.
pub const MAX_SCHEMA_BYTES: usize = 64 << 10;
/// The most bytes of a tool's own name.
const MAX_NAME_BYTES: usize = 256;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name at the server.
    pub name: String,
    /// Its name among all tools; see [`prefixed`].
    pub prefixed: String,
    /// What the server says it does, at most 2,000 characters. Written by a stranger.
    pub description: String,
    /// JSON Schema of its arguments, as JSON text.
    pub schema: String,
    /// Whether the server says that it changes nothing. Only a hint, as the next two. Default, as
    /// the protocol has it: false.
    pub read_only: bool,
    /// Whether the server says that it may destroy something. Default: true.
    pub destructive: bool,
    /// Whether the server says that calling it twice does what calling it once does.
    /// Default: false.
    pub idempotent: bool,
}

/// The tools of a server that its configuration offers, ordered as the server has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The tools.
    pub tools: Vec<Tool>,
    /// Tools that cannot be offered, each with the reason, at most [`MAX_TOOLS`].
    pub left_out: Vec<String>,
}

impl Listing {
    pub(crate) fn add(&mut self, wire: Wire, server: &str, filter: &ToolFilter) {
        if !filter.lets_through(&wire.name) {
            return;
        }
        let shown = words(&wire.name);
        match read(wire, server) {
            Ok(tool) if self.tools.iter().any(|other| other.prefixed == tool.prefixed) => {
                self.leave_out(format!("`{shown}`: the server has it twice"));
            }
            Ok(_) if self.tools.len() >= MAX_TOOLS => {
                self.leave_out(format!("`{shown}`: more than {MAX_TOOLS} tools"));
            }
            Ok(tool) => self.tools.push(tool),
            Err(why) => self.leave_out(format!("`{shown}`: {why}")),
        }
    }

    pub(crate) fn leave_out(&mut self, what: String) {
        if self.left_out.len() < MAX_TOOLS {
            self.left_out.push(what);
        }
    }
}

fn read(wire: Wire, server: &str) -> Result<Tool, String> {
    if wire.name.is_empty() || wire.name.len() > MAX_NAME_BYTES {
        return Err(format!("its name has {} bytes, not 1 to {MAX_NAME_BYTES}", wire.name.len()));
    }
    let schema = serde_json::to_string(&wire.input_schema).map_err(|error| error.to_string())?;
    if schema.len() > MAX_SCHEMA_BYTES {
        let bytes = schema.len();
        return Err(format!("its schema has {bytes} bytes, at most {MAX_SCHEMA_BYTES} are read"));
    }
    let hints = wire.annotations.unwrap_or_default();
    let read_only = hints.read_only_hint.unwrap_or(false);
    Ok(Tool {
        prefixed: prefixed(server, &wire.name),
        name: wire.name.into_owned(),
        description: words(wire.description.as_deref().unwrap_or_default()),
        schema,
        read_only,
        destructive: hints.destructive_hint.unwrap_or(!read_only),
        idempotent: hints.idempotent_hint.unwrap_or(read_only),
    })
}
