//! `steersman sessions delete`.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use steersman_agent::process_of;
use steersman_store::{Store, Summary};
use steersman_workspace::{Checkpoints, Workspace};

use super::args::DeleteArgs;
use super::find;
use super::standing::driver;
use crate::run::{Place, block_on};
use crate::screen::say;

pub(super) fn delete(args: &DeleteArgs) -> Result<ExitCode, String> {
    let place = Place::of(&args.store)?;
    let store = find::open_there(&place)?;
    block_on(async {
        let summary = find::find(&*store, &args.id).await?;
        let id = &summary.id;
        if !args.yes {
            return Err(format!(
                "session {id} would be gone with its journal and checkpoints; if that is meant: \
                 {} --yes",
                place.hint("delete", id)
            ));
        }
        refuse_if_driven(&place, &summary)?;
        let rehearsed = place.rehearsal(id);
        let left = forget_states(&place, &*store, &summary).await;
        // The journal last: until then, deleting can be tried again.
        for folder in [place.checkpoints(id), rehearsed, place.attempts(id)] {
            remove(&folder)?;
        }
        store.delete(id).await.map_err(|error| error.to_string())?;
        let what = left.map_or_else(String::new, |why| format!("; its checkpoints stay: {why}"));
        say(&format!("session {id} is deleted{what}"));
        Ok(ExitCode::SUCCESS)
    })
}

fn refuse_if_driven(place: &Place, summary: &Summary) -> Result<(), String> {
    let Some(lease) = driver(summary) else { return Ok(()) };
    let pid = process_of(&lease.owner).map_or_else(String::new, |pid| format!(" by process {pid}"));
    let stop = place.hint("stop", &summary.id);
    Err(format!("session {} is being driven{pid}; first: {stop}", summary.id))
}

/// Lets go of the states that a repository keeps; why they stay, where that fails.
async fn forget_states(place: &Place, store: &dyn Store, summary: &Summary) -> Option<String> {
    let id = &summary.id;
    let opened = store.read(id, 0, 1).await.ok()?;
    let opened: steersman_agent::Entry = serde_json::from_str(&opened.first()?.body).ok()?;
    let steersman_agent::Entry::Opened(opened) = opened else { return None };
    let folder = opened.workspace?;
    let private = place.checkpoints(id);
    if !Path::new(&folder).exists() {
        return None;
    }
    let forget = || -> Result<(), String> {
        let workspace = Workspace::open(Path::new(&folder)).map_err(|error| error.to_string())?;
        let kept = Checkpoints::open(&workspace, id.as_str(), &private);
        let kept = kept.map_err(|error| error.to_string())?;
        kept.forget().map(drop).map_err(|error| error.to_string())
    };
    forget().err()
}

fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("{} cannot be removed: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}
