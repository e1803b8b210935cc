//! `steersman sessions export` and `import`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::process::ExitCode;

use steersman_store::{export, import};

use super::args::{ExportArgs, ImportArgs};
use super::find;
use crate::run::{Place, block_on};
use crate::screen::say;

pub(super) fn write(args: &ExportArgs) -> Result<ExitCode, String> {
    let place = Place::of(&args.store)?;
    let store = find::open_there(&place)?;
    block_on(async {
        let id = find::find(&*store, &args.id).await?.id;
        let Some(path) = &args.out else {
            let mut out = BufWriter::new(io::stdout());
            export(&*store, &id, &mut out)
                .await
                .map_err(|error| format!("standard output: {error}"))?;
            return Ok(ExitCode::SUCCESS);
        };
        let shown = path.display();
        // What an agent read and wrote is for nobody else to see.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        let file = file.map_err(|error| format!("{shown}: {error}"))?;
        let mut out = BufWriter::new(file);
        match export(&*store, &id, &mut out).await {
            Ok(entries) => say(&format!("session {id}: {entries} entries written to {shown}")),
            Err(error) => {
                drop(out);
                // Half a session is of no use; if it stays, the message still says what failed.
                let _ = fs::remove_file(path);
                return Err(format!("{shown}: {error}"));
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

pub(super) fn read(args: &ImportArgs) -> Result<ExitCode, String> {
    let place = Place::of(&args.store)?;
    let shown = args.file.display();
    let store = place.open()?;
    block_on(async {
        let id = if args.file.as_os_str() == "-" {
            import(&*store, None, &mut BufReader::new(io::stdin())).await
        } else {
            let file = File::open(&args.file).map_err(|error| format!("{shown}: {error}"))?;
            import(&*store, None, &mut BufReader::new(file)).await
        };
        let id = id.map_err(|error| format!("{shown}: {error}"))?;
        say(&format!("session {id} is read; see: {}", place.hint("show", &id)));
        Ok(ExitCode::SUCCESS)
    })
}
