//! The runtime of Steersman: takes an agent to its end, and survives.
//!
//! A [`Session`] is the fold of its journal and says what is to be done next; a [`Driver`] does it,
//! writing every entry to the journal before its effect. The engine decides, the driver obeys.

mod check;
mod clock;
pub mod control;
mod driver;
mod ending;
mod entry;
mod json_calls;
mod log;
mod models;
mod owner;
pub mod probe;
pub mod rehearsal;
mod roster;
mod seam;
mod session;
mod sides;
pub mod tools;

pub use check::discover as discover_check;
pub use clock::{Clock, SystemClock, TimerClock};
pub use driver::{Command, DriveError, Driver, Parts, head_of};
pub use ending::Ending;
pub use entry::{
    AgentSetup, Attempt, CheckCause, CheckFinished, Checkpointed, Ended, Entry, Failed, HandedOver,
    Opened, Prices, Replied, TakenUp, ToolFinished, VERSION,
};
pub use json_calls::JsonCalls;
pub use log::{LEASE_MS, Log, LogError, read, to_stored};
pub use models::{Models, ServedModel};
pub use owner::{is_gone, process_of, random};
pub use roster::{Circumstances, ForeignTool, Roster};
pub use seam::{
    Agents, CheckOutcome, Face, GivenUp, Model, ModelCall, Site, ToolOutcome, Toolbox, Unwatched,
    Work,
};
pub use session::{
    CallState, FoldError, OpenCall, Outlook, Session, Step, ToolRun, make_ids_unique,
};
pub use sides::{Side, SideEnded, Sides, SidesBegun, choose as choose_side};
