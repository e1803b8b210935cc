//! Tests of the client against real servers over loopback.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod listing;
