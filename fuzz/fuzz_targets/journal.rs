//! No journal makes its reader panic, and whatever it says, the policy it changes stays valid and
//! no harmful mark lowers a threshold.
#![no_main]

use libfuzzer_sys::fuzz_target;
use steersman_engine::Policy;
use steersman_evaluation::feedback::{Mark, apply};
use steersman_evaluation::journal::{Journal, Opinion};
use steersman_evaluation::wording;

fuzz_target!(|text: &str| {
    let journal = Journal::read(text.lines());
    let marks = journal.marks();
    let mut policy = Policy::default();
    apply(&mut policy, &marks);
    policy.wording.learned = wording::learn(&journal.entries, &policy).learned;
    assert_eq!(policy.validate(), Ok(()));
    let harmful: Vec<Mark> =
        marks.into_iter().filter(|mark| mark.opinion == Opinion::Harmful).collect();
    let (shipped, mut patient) = (Policy::default(), Policy::default());
    apply(&mut patient, &harmful);
    assert!(patient.loops.cycle.notice >= shipped.loops.cycle.notice);
    assert!(patient.loops.same_error.notice >= shipped.loops.same_error.notice);
});
