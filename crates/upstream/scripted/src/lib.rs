//! A model server that answers from a script, over loopback, in every wire format. For tests.
//!
//! The format is the one of the path that is asked, and the answer is streamed if the request asks
//! for it. Replies are given in order; every request is kept for the test to look at.
//!
//! ```
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! use steersman_scripted_server::{Reply, ScriptedServer};
//!
//! let server = ScriptedServer::start(vec![
//!     Reply::call("read", r#"{"path": "a.txt"}"#),
//!     Reply::status(429).header("retry-after", "2"),
//!     Reply::text("Done."),
//! ])
//! .await
//! .unwrap();
//! assert!(server.base_url().starts_with("http://127.0.0.1:"));
//! assert!(server.requests().is_empty());
//! # });
//! ```

mod reply;
mod server;
mod write;

pub use reply::{Reply, ToolCall};
pub use server::{Progress, Received, ScriptedServer};
