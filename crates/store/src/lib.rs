//! The journal: durable sessions, each a gapless list of entries.
//!
//! [`Store`] is the boundary. [`SqliteStore`] keeps sessions in one file that several processes
//! may use at once; [`MemoryStore`] keeps them for as long as the program runs. Both pass the same
//! tests.
//!
//! An append names the last entry its writer knows of, so two writers never interleave unseen.
//! Beside its entries a session can have a [`Kept`] state, of which only the latest counts.
//! [`Accounts`] keeps virtual keys of the gateway and what was used under them, in the same file.
//! A [`Lease`] says who drives a session; its epoch fences off a driver that lost it.
//!
//! The why is in `docs/design/store.md`.

mod accounts;
mod body;
mod control;
mod entry;
mod error;
mod hint;
mod kept;
mod lease;
mod memory;
mod memory_accounts;
mod session;
mod session_id;
mod sqlite;
mod store;
mod transfer;

pub use accounts::{
    Accounts, KeyRecord, MAX_ACCOUNT_BYTES, MAX_KEY_BODY_BYTES, MAX_KEY_NAME_BYTES, MAX_KEYS,
    Spending,
};
pub use body::Body;
pub use control::{Control, MAX_NAME_BYTES, NewControl, Timer};
pub use entry::{Append, Entry, MAX_BODY_BYTES, MAX_ENTRIES, MAX_KIND_BYTES, NewEntry};
pub use error::{FileFault, StoreError};
pub use hint::{Hint, News, Subscription};
pub use kept::{Kept, MAX_KEPT_BYTES, Standing};
pub use lease::{Lease, MAX_OWNER_BYTES};
pub use memory::MemoryStore;
pub use session::{
    Filter, Head, MAX_EXTRA_BYTES, MAX_HEAD_TEXT_BYTES, MAX_LIMIT, Position, Summary,
};
pub use session_id::{SessionId, SessionIdError};
pub use sqlite::{Options, SqliteStore};
pub use store::{AskLease, Pending, Store};
pub use transfer::{TransferError, export, import};
