//! What can go wrong with a server.

/// Why a server or one of its tools did not do its part. Each names the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// The configuration says that it is not used.
    #[error("MCP server `{server}` is not enabled")]
    Disabled {
        /// The server.
        server: String,
    },
    /// The program cannot be started.
    #[error("MCP server `{server}` cannot be started: {why}")]
    NotStarted {
        /// The server.
        server: String,
        /// Which program, and what the system says.
        why: String,
    },
    /// The server at the URL cannot be reached, or refuses.
    #[error("MCP server `{server}` cannot be reached: {why}")]
    Unreachable {
        /// The server.
        server: String,
        /// What happened.
        why: String,
    },
    /// It did not answer in time. What it was asked may still happen.
    #[error("MCP server `{server}` has not answered `{asked}` within {waited_ms} ms{remark}")]
    Silent {
        /// The server.
        server: String,
        /// What it was asked.
        asked: String,
        /// For how long was waited, in milliseconds.
        waited_ms: u64,
        /// What it said elsewhere; begins with a separator, or is empty.
        remark: String,
    },
    /// It ended, or closed the connection.
    #[error("MCP server `{server}` has ended ({how}){remark}")]
    Ended {
        /// The server.
        server: String,
        /// How, as far as known.
        how: String,
        /// What it said elsewhere; begins with a separator, or is empty.
        remark: String,
    },
    /// It sent more than anybody reads.
    #[error("MCP server `{server}` sent more than {max_bytes} bytes for one request")]
    Flooded {
        /// The server.
        server: String,
        /// The bound.
        max_bytes: u64,
    },
    /// It speaks a version of the protocol that this client does not.
    #[error("MCP server `{server}` speaks version {version:?} of the protocol; known: {known}")]
    Version {
        /// The server.
        server: String,
        /// Its version.
        version: String,
        /// The versions this client knows.
        known: String,
    },
    /// It answered something else than the protocol says.
    #[error("MCP server `{server}` does not keep to the protocol: {what}")]
    Protocol {
        /// The server.
        server: String,
        /// What it did.
        what: String,
    },
    /// It answered with an error.
    #[error("MCP server `{server}` answered with error {code}: {message}")]
    Refused {
        /// The server.
        server: String,
        /// The code of the error.
        code: i32,
        /// What it says, cut to 2,000 characters.
        message: String,
    },
    /// The configuration does not offer this tool.
    #[error("tool `{tool}` of MCP server `{server}` is not offered: its configuration excludes it")]
    NotOffered {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The arguments are not a JSON object.
    #[error("the arguments for tool `{tool}` of MCP server `{server}` are no JSON object: {why}")]
    Arguments {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// What is wrong with them.
        why: String,
    },
    /// The caller cancelled the call. What it asked for may still happen.
    #[error("the call of tool `{tool}` of MCP server `{server}` was cancelled")]
    Cancelled {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
}

/// The most characters of a server's words in an error.
const MAX_WORDS: usize = 2_000;

/// A server's words, short enough and without what would disturb a terminal.
pub(crate) fn words(text: &str) -> String {
    let clean = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    text.trim().chars().take(MAX_WORDS).map(clean).collect()
}
