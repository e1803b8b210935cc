//! Names of tools as models see them.

/// The most bytes a name has: what model servers accept.
pub const MAX_TOOL_NAME_BYTES: usize = 64;

/// The name of a server's tool among all tools: `mcp__server__tool`, as other clients build it.
///
/// It has only `a-z`, `A-Z`, `0-9`, `_` and `-` and at most [`MAX_TOOL_NAME_BYTES`]. If something
/// had to be changed for that, it ends with a hash of the full name, so that names stay apart.
#[must_use]
pub fn prefixed(server: &str, tool: &str) -> String {
    let full = format!("mcp__{server}__{tool}");
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if full.len() <= MAX_TOOL_NAME_BYTES && full.chars().all(plain) {
        return full;
    }
    let hash = format!("_{:08x}", hash(&full));
    let mut name: String = full
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .take(MAX_TOOL_NAME_BYTES - hash.len())
        .collect();
    name.push_str(&hash);
    name
}

/// FNV-1a: the same in every version of the program, because names stand in journals.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(server: &str, tool: &str, expected: &str) {
        assert_eq!(prefixed(server, tool), expected);
    }

    #[test]
    fn names_fit_model_servers_and_stay_apart() {
        check("files", "read_file", "mcp__files__read_file");
        check("files", "read.file", "mcp__files__read_file_ca3d887a");
        check("files", "read/file", "mcp__files__read_file_d3f72a71");
        let long = prefixed("a", &"x".repeat(100));
        assert_eq!(long.len(), MAX_TOOL_NAME_BYTES);
        assert_ne!(long, prefixed("a", &"x".repeat(101)));
    }
}
