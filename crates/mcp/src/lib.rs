//! Client of Model Context Protocol servers: the tools of other programs.
//!
//! [`McpConfig::read_all`] reads the `mcpServers` object that users know from other clients,
//! [`connect`] starts a server or reaches one over HTTP, [`Connection::tools`] lists what it
//! offers and [`Connection::call`] calls it. A server is a stranger: whatever it does, memory and
//! time are bounded, and its processes are gone when the connection is.
//!
//! The why is in `docs/design/mcp.md`.

mod answer;
mod config;
mod connection;
mod error;
mod expand;
mod http_client;
mod meter;
mod name;
mod process;
mod tail;
mod tools;

pub use answer::{Answer, MAX_TEXT_BYTES};
pub use config::{ConfigError, McpConfig, Reach, ToolFilter};
pub use connection::{Connection, connect};
pub use error::McpError;
pub use name::{MAX_TOOL_NAME_BYTES, prefixed};
pub use tools::{Listing, MAX_SCHEMA_BYTES, MAX_TOOLS, Tool};
