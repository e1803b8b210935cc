//! What a server and its model can really do: asked, not looked up (C7).
//!
//! A [`Probe`] says what is to be asked next and keeps what came; it is pure. [`conduct`] asks.
//! The [`Report`] holds one [`Row`] per ability with what was sent and what came, and the profile that
//! follows from it. Nothing is guessed: what was not seen is [`Found::NotTold`].

mod advice;
mod calls;
mod conduct;
mod heard;
mod limits;
mod plan;
mod question;
mod replies;
mod report;
mod row;
mod shapes;
mod step;

pub use advice::{Advice, Setting, Where};
pub use conduct::{Line, conduct};
pub use heard::{Came, Heard};
pub use plan::{MAX_REQUESTS, Probe};
pub use question::Question;
pub use report::{Cost, Report, Speed, Standing};
pub use row::{Found, Row};
pub use step::Step;
