//! Any bytes as two streams of one answer: what is released is what came, nothing panics, and the
//! way the first is cut makes no difference to what the client reads.
#![no_main]

use steersman_wire::{Format, Splice};

fn push(splice: &mut Splice, data: &[u8], chunk: usize) -> Vec<u8> {
    data.chunks(chunk).flat_map(|bytes| splice.push(bytes).into_owned()).collect()
}

// The first bytes say how chunks are cut, whether the end is one, and where the second begins.
libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((&[size, cut], data)) = data.split_first_chunk() else { return };
    let (first, second) = data.split_at(data.len() * usize::from(cut) / 256);
    for format in Format::ALL {
        let mut spliced = Vec::new();
        for chunk in [usize::from(size).max(1), usize::MAX] {
            let mut splice = Splice::new(format);
            let mut out = push(&mut splice, first, chunk);
            let passed = out.len();
            out.extend(splice.release());
            assert_eq!(out, first);
            out.truncate(passed);

            let mut splice = Splice::new(format);
            assert_eq!(push(&mut splice, first, chunk), out);
            let went_on = splice.is_holding();
            assert_eq!(splice.go_on(), went_on);
            if went_on {
                out.extend(push(&mut splice, second, chunk));
                out.extend(splice.release());
                spliced.push(out);
            }
        }
        assert!(spliced.windows(2).all(|pair| pair[0] == pair[1]));
        if let Ok(joined) = format.joined(first, second) {
            assert!(serde_json::from_slice::<serde_json::Value>(&joined).is_ok());
        }
    }
});
