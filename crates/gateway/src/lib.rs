//! The gateway: a server that agents take for their model server, and that passes what they ask on
//! to the real one.
//!
//! [`Server`] listens, [`Config`] says how, and a [`Governor`] decides what becomes of each call of
//! a model. Bytes go through as they come: a request is forwarded with the body the client wrote,
//! an answer piece by piece at the pace at which the client takes it.

mod alarm;
mod answer;
pub mod api;
pub mod budget;
pub mod chain;
pub mod client;
pub mod config;
pub mod control;
pub mod figures;
mod follow;
mod forward;
pub mod govern;
mod headers;
pub mod identity;
pub mod journal;
pub mod keys;
pub mod kind;
mod lanes;
mod live;
pub mod mode;
pub mod otlp;
pub mod prices;
mod question;
mod receive;
pub mod record;
mod relay;
mod route;
pub mod seam;
mod server;
pub mod session;
pub mod sessions;
mod socket;
pub mod steering;
mod watched;

pub use config::{
    Config, ConfigError, Fail, Fallback, Keys, Limits, Mode, Rule, Upstream, schema, schema_text,
};
pub use live::StartError;
pub use seam::{Act, Call, EndOfAnswer, Governor, Instead, Next, PassThrough, Plan, Watch};
pub use server::{Ended, Handle, Pages, Server};
