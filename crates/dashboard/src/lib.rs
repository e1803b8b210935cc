//! The dashboard: its page, in the binary, and what it shows and steers of sessions of
//! `steersman run`.
//!
//! [`answer`] answers requests for the page. It holds no data and needs no token; what it shows it
//! asks of the API, which knows sessions of the gateway by itself and those of runs by
//! [`RunSessions`].

mod page;
mod runs;

pub use page::{PATH, answer};
pub use runs::RunSessions;
