//! Whether there is enough to learn from.

use std::collections::{BTreeMap, BTreeSet};

use steersman_evaluation::learn::{Record, fewest};

use crate::text;

/// Runs with an outcome, those left out that contradict each other, and what is to be said of them.
pub(crate) fn usable(records: Vec<Record>) -> (Vec<Record>, Vec<String>) {
    let mut outcomes: BTreeMap<(String, String), BTreeSet<bool>> = BTreeMap::new();
    for record in &records {
        let episode = &record.episode;
        if let Some(solved) = episode.solved.filter(|_| !episode.id.is_empty()) {
            let key = (episode.source.to_string(), episode.id.clone());
            outcomes.entry(key).or_default().insert(solved);
        }
    }
    let contradicts = |record: &Record| {
        let key = (record.episode.source.to_string(), record.episode.id.clone());
        outcomes.get(&key).is_some_and(|found| found.len() > 1)
    };
    let mut notes = Vec::new();
    let twice = outcomes.values().filter(|found| found.len() > 1).count() as u64;
    if let Some(((source, id), _)) = outcomes.iter().find(|(_, found)| found.len() > 1) {
        notes.push(format!(
            "{} both solved and unsolved, and left out: {} of {} is the first",
            if twice == 1 { "1 run is".to_owned() } else { format!("{twice} runs are") },
            text::plain(id),
            text::plain(source)
        ));
    }
    let ungraded = records.iter().filter(|it| it.episode.solved.is_none()).count() as u64;
    if ungraded > 0 {
        notes.push(format!("{} without an outcome: left out", text::counted(ungraded, "run")));
    }
    let kept = records.into_iter().filter(|it| it.episode.solved.is_some() && !contradicts(it));
    (kept.collect(), notes)
}

/// A share as a percentage, without what floating point leaves behind: 7 %, not
/// 7.000000000000001 %.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}

/// What stands in the way of learning from these runs.
pub(crate) fn check(records: &[Record], alpha: f64) -> Result<(), String> {
    let good = records.iter().filter(|record| record.is_good()).count();
    let (all, needed) = (records.len(), fewest(alpha));
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    let each = |count: usize| match count {
        1 => "the only run is".to_owned(),
        _ => format!("all {} are", text::counted(count as u64, "run")),
    };
    if all == 0 {
        return Err("no run has an outcome: to learn from them, runs must be graded solved or \
                    unsolved, e.g. \"outcome\": {\"solved\": true} (docs/traces.md says where each \
                    format has it)"
            .to_owned());
    }
    if good == all {
        return Err(format!("{} solved: nothing shows what failing looks like", each(all)));
    }
    if good < needed {
        let missing = needed - good;
        let mut message = format!(
            "a line that at most {} of good runs cross takes {needed} solved runs: there {} \
             {good}, {missing} {} missing",
            percent(alpha),
            are(good),
            are(missing)
        );
        let possible = 100.0 / (good as f64 + 1.0);
        if possible <= 50.0 {
            let possible = (possible * 10.0).ceil() / 10.0;
            message.push_str(&format!(" (they allow --alpha {possible}% at best)"));
        }
        return Err(message);
    }
    let instances: BTreeSet<&str> = records.iter().map(|it| it.episode.cluster()).collect();
    if instances.len() < 2 {
        return Err(format!(
            "{} of one task instance: what is learned from it could not be measured on another",
            each(all)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn shares_are_shown_as_they_were_written() {
        let cases = [(0.07, "7 %"), (0.05, "5 %"), (0.001, "0.1 %"), (0.29, "29 %")];
        for (share, expected) in cases {
            assert_eq!(percent(share), expected);
        }
    }
}
