//! The rules, by what they look at.

pub(super) mod commands;
pub(super) mod length;
pub(super) mod links;
pub(super) mod manifests;
pub(super) mod marks;
pub(super) mod names;
pub(super) mod paths;
pub(super) mod purity;
