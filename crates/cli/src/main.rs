//! The `steersman` command.

fn main() {}
