//! Tests of requests as clients send them.

#[cfg(test)]
mod any_input;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod edits;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod hashes;
#[cfg(test)]
mod prefixes;
#[cfg(test)]
mod turns;
