//! Prompts that were composed, by the content of their requests.

use std::collections::HashMap;
use std::sync::Arc;

/// Most prompts that are kept; the one that was not used for longest gives way.
const MAX_PROMPTS: usize = 64;

/// Prompts by the content of their requests.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    prompts: HashMap<String, (Arc<str>, u64)>,
    uses: u64,
}

impl Cache {
    /// The prompt of a request, if it is kept.
    pub(crate) fn find(&mut self, key: &str) -> Option<Arc<str>> {
        self.uses += 1;
        let (prompt, used) = self.prompts.get_mut(key)?;
        *used = self.uses;
        Some(Arc::clone(prompt))
    }

    /// Keeps the prompt of a request.
    pub(crate) fn put(&mut self, key: String, prompt: Arc<str>) {
        if self.prompts.len() >= MAX_PROMPTS {
            let oldest = self.prompts.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.prompts.remove(&oldest);
            }
        }
        self.prompts.insert(key, (prompt, self.uses));
    }
}

#[cfg(test)]
mod tests {
    use super::{Cache, MAX_PROMPTS};

    #[test]
    fn the_longest_unused_gives_way() {
        let mut cache = Cache::default();
        for n in 0..MAX_PROMPTS {
            assert_eq!(cache.find(&n.to_string()), None);
            cache.put(n.to_string(), n.to_string().into());
        }
        assert_eq!(cache.find("0").as_deref(), Some("0"));
        assert_eq!(cache.find("new"), None);
        cache.put("new".to_owned(), "new".into());
        assert_eq!(cache.prompts.len(), MAX_PROMPTS);
        assert_eq!(cache.find("1"), None);
        assert_eq!(cache.find("0").as_deref(), Some("0"));
    }
}
