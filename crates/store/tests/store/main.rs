//! What any store has to do, and what the one on disk bears.

mod conformance;
mod faults;
mod properties;
mod stage;
mod transfer;
