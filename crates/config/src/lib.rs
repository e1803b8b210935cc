//! The policy file of Steersman: reading it, saying what is wrong with it, showing it.
//!
//! [`load`] and [`parse`] read a file, [`resolve`] a name or a file, [`find`] looks for one, and
//! [`with_overrides`] lays single keys over a policy. Whatever is wrong is told with file, line,
//! column, key, value and what is allowed. Keys, types and allowed values come from
//! [`steersman_engine::Policy`] itself. [`document`] reads other files in the same way.

mod asleep;
mod bounds;
pub mod control;
pub mod document;
mod error;
mod find;
mod finding;
mod former;
mod judge;
mod load;
mod ordered;
mod overlay;
mod path;
mod reference;
mod scalar;
mod schema;
mod sets;
mod shape;
mod show;
mod source;
mod suggest;
mod template;
mod tree;

#[cfg(test)]
mod tests;

pub use error::{Findings, LoadError};
pub use find::{FILE_NAMES, config_home, find, find_with_home, folders};
pub use finding::{Finding, Notice, Severity};
pub use load::{Loaded, MAX_BYTES, load, parse, parse_bytes, resolve};
pub use reference::reference;
pub use schema::{schema, schema_text};
pub use sets::with_overrides;
pub use show::{to_json_text, to_yaml, to_yaml_over};
pub use suggest::nearest;
pub use template::template;
