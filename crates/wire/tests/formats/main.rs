//! Tests of the wire formats from outside.

#[cfg(test)]
mod any_input;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod rendered;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod splice;
