//! The wire formats of model servers, as pure functions: no IO, no clock, no async.
//!
//! A conversation is a list of [`Message`]s that belongs to no provider. A [`Format`] turns a
//! [`Request`] into the bytes a server expects, and what the server sends back into an [`Answer`],
//! from a whole body ([`Format::answer`]) or from a stream ([`Format::stream`]); both give the same
//! answer. What went wrong is a [`Failure`] that says whether and when to try again.
//!
//! The other half is for who stands between the two: [`Format::receive`] scans a client's request
//! into a [`Received`] without decoding it, and an [`Edit`] changes nothing but what it says.
//!
//! Nothing a server sent is lost: blocks of reasoning, signatures, and what is not understood at
//! all stay in the message as they came, and go back to the same format word for word.
//!
//! ```
//! use steersman_wire::{Format, Message, Request};
//!
//! let messages = [Message::user("Say hello.")];
//! let request = Request { system: "Be brief.", ..Request::new("some-model", &messages) };
//! let body = Format::OpenAiChat.body(&request);
//! assert!(body.starts_with(br#"{"messages":[{"content":"Be brief.","role":"system"}"#));
//!
//! let answer = Format::OpenAiChat.answer(
//!     br#"{"choices": [{"message": {"content": "Hello."}, "finish_reason": "stop"}]}"#,
//! )?;
//! assert_eq!(answer.message.text(), "Hello.");
//! assert_eq!(answer.stop, Some(steersman_engine::StopReason::Stop));
//! # Ok::<(), steersman_wire::WireError>(())
//! ```

mod answer;
mod arguments;
mod dialogue;
mod error;
mod failure;
mod format;
mod formats;
mod json;
mod listed;
mod message;
mod received;
mod redact;
mod rendered;
mod repair;
mod request;
mod sse;
mod stream;
mod wait;

pub use answer::{Answer, Tokens};
pub use arguments::{ArgumentsError, parse_arguments};
pub use error::WireError;
pub use failure::{Failure, FailureKind};
pub use format::{Format, FormatError};
pub use listed::ListedModel;
pub use message::{Message, Part, Raw, Role};
pub use received::{ClientMetadata, Edit, Hashes, Heard, Prefixes, Received, Speaker};
pub use redact::redact;
pub use rendered::{ErrorKind, Frame, Splice};
pub use repair::repair_tool_call;
pub use request::{Request, Schema, ToolChoice, ToolSpec};
pub use stream::{Delta, StreamReader};
