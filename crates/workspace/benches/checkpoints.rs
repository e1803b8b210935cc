//! What a checkpoint costs.
fn main() {
    divan::main();
}
