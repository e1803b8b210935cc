//! Any bytes as a stream of each wire format: the way it is cut makes no difference.
#![no_main]

use steersman_wire::{Answer, Format, WireError};

fn read(format: Format, data: &[u8], chunk: usize) -> Result<Answer, WireError> {
    let mut reader = format.stream();
    for bytes in data.chunks(chunk) {
        reader.push(bytes)?;
    }
    reader.finish()
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&first, data)) = data.split_first() else { return };
    let chunk = usize::from(first).max(1);
    for format in Format::ALL {
        assert_eq!(read(format, data, chunk), read(format, data, usize::MAX));
    }
});
