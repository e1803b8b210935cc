//! Writes the table of the page's files: what stands in `web/dist` when the program is built.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Most files of the page.
const MAX_FILES: usize = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let home = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let dist = home.join("../../web/dist");
    println!("cargo:rerun-if-changed={}", dist.display());
    println!("cargo:rerun-if-changed=placeholder.html");
    let mut files = Vec::new();
    if dist.join("index.html").is_file() {
        gather(&dist, "", &mut files)?;
    } else {
        // The folder may come later: cargo looks for it at the next build.
        files.push(("index.html".to_owned(), home.join("placeholder.html")));
    }
    files.sort();
    let mut table = String::from("&[\n");
    for (name, path) in &files {
        let tag = fnv(&fs::read(path)?);
        let path = path.canonicalize()?;
        writeln!(table, "    ({name:?}, \"{tag:016x}\", include_bytes!({path:?})),")?;
    }
    table.push_str("]\n");
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("files.rs"), table)?;
    Ok(())
}

/// The files of a folder and the folders in it, under their names within `web/dist`.
fn gather(
    folder: &Path,
    prefix: &str,
    files: &mut Vec<(String, PathBuf)>,
) -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Err(format!("{}: the name is not UTF-8", path.display()).into());
        };
        if name.starts_with('.') {
            continue;
        }
        let name = format!("{prefix}{name}");
        if path.is_dir() {
            gather(&path, &format!("{name}/"), files)?;
        } else if files.len() >= MAX_FILES {
            return Err(format!("web/dist has more than {MAX_FILES} files").into());
        } else {
            println!("cargo:rerun-if-changed={}", path.display());
            files.push((name, path));
        }
    }
    Ok(())
}

/// A hash of a file's content (FNV-1a): it tells one build's files from another's.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
