//! What came of interventions, and what a policy learns from it.
//!
//! Nothing here reads a file. Whoever reads a journal hands its lines to
//! [`journal::Journal::read`], and what was read to what is wanted:
//!
//! * [`feedback`]: people's marks move the thresholds of the rules they are about;
//! * [`wording`]: outcomes say which text works best with which model.

mod credible;
pub mod feedback;
pub mod journal;
pub mod wording;
