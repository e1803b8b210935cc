//! Splits by task instance: what is fitted on some instances is measured on others.

use steersman_engine::digest::{hash_bytes, mix};

use crate::Episode;

/// The fold of an instance, 0 to `folds - 1`. Depends on the name alone: the same instance is in
/// the same fold wherever it occurs.
#[must_use]
pub fn fold_of(instance: &str, folds: u32) -> u32 {
    let hash = mix(hash_bytes(instance.as_bytes()));
    u32::try_from(hash % u64::from(folds.max(1))).unwrap_or(0)
}

/// The fold of an episode: that of its [`Episode::cluster`].
#[must_use]
pub fn fold(episode: &Episode, folds: u32) -> u32 {
    fold_of(episode.cluster(), folds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_of_about_equal_size_and_stay_the_same() {
        let mut sizes = [0_u32; 5];
        (0..10_000).for_each(|i| sizes[fold_of(&format!("task-{i}"), 5) as usize] += 1);
        assert!(sizes.iter().all(|size| (1_850..2_150).contains(size)), "{sizes:?}");
        assert_eq!(fold_of("anything", 1), 0);
        assert_eq!(fold_of("anything", 0), 0);
        let run = |instance: &str, id: &str| Episode {
            instance: instance.to_owned(),
            id: id.to_owned(),
            ..Episode::default()
        };
        assert_eq!(fold(&run("a", "1"), 5), fold(&run("a", "2"), 5));
        assert_eq!(fold(&run("", "a"), 5), fold(&run("a", "2"), 5));
    }
}
