//! Tests of the trace readers from outside.

#[cfg(test)]
mod collect;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod inputs;
#[cfg(test)]
mod no_panic;
#[cfg(test)]
mod shared_data;
