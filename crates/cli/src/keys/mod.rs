//! `steersman keys`: by which clients use the gateway.
//!
//! Exit codes: 0 done, 1 it could not be done, 2 wrong arguments.

mod args;
mod list;
mod moment;

use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use steersman_gateway::Config;
use steersman_gateway::keys::Secret;
use steersman_store::{Accounts, KeyRecord};

pub(crate) use args::KeysArgs;

use crate::run::{Place, StoreArgs, block_on, date_and_time, shown, write};
use crate::screen::{Colour, Screen, Tone, complain, say};
use crate::serve::FILE;
use args::{CreateArgs, RevokeArgs, Verb};

/// Runs the verb.
pub(crate) fn run(args: &KeysArgs, colour: Colour) -> ExitCode {
    let outcome = match &args.verb {
        Verb::Create(args) => create(args),
        Verb::List(args) => list::list(args, Screen::stdout(colour)),
        Verb::Revoke(args) => revoke(args),
    };
    outcome.unwrap_or_else(|message| {
        complain(Screen::stderr(colour), Tone::Bad, "error", &message);
        ExitCode::from(1)
    })
}

/// Where keys lie: in the folder that is named, else in that of the gateway configured here.
fn place_of(args: &StoreArgs) -> Result<Place, String> {
    let mut folder = args.folder.clone();
    if folder.is_none() && Path::new(FILE).exists() {
        folder = Config::load(Path::new(FILE)).map_err(|error| error.to_string())?.state_dir;
    }
    Place::of(&StoreArgs { folder })
}

fn create(args: &CreateArgs) -> Result<ExitCode, String> {
    let grant = args.grant()?;
    let place = place_of(&args.store)?;
    let now_ms = now_ms();
    let expires_ms = args.expires.map(|expiry| expiry.moment_ms(now_ms));
    if expires_ms.is_some_and(|at| at <= now_ms) {
        return Err("the day the key ends with is over already".to_owned());
    }
    let secret = Secret::make().map_err(|error| error.to_string())?;
    let record = KeyRecord {
        name: args.name.clone(),
        hash: secret.hash(),
        created_ms: now_ms,
        expires_ms,
        revoked_ms: None,
        body: serde_json::to_string(&grant).map_err(|error| error.to_string())?,
    };
    let store = place.open_sqlite()?;
    block_on(async { store.add_key(record).await.map_err(|error| error.to_string()) })?;
    write(&[secret.reveal().to_owned()]);
    let until = match expires_ms {
        Some(at) => format!("until {} UTC", date_and_time(at)),
        None => "until it is revoked".to_owned(),
    };
    say(&format!(
        "The key `{}` holds {until}: {}.\n\
         It is shown this once; {} keeps its hash. Clients send it in the place of their API key.",
        args.name,
        list::allows(Some(&grant)),
        shown(&place.file())
    ));
    Ok(ExitCode::SUCCESS)
}

fn revoke(args: &RevokeArgs) -> Result<ExitCode, String> {
    let place = place_of(&args.store)?;
    let file = shown(&place.file());
    if !place.file().exists() {
        return Err(format!("there are no keys: {file} does not exist; --state names the folder"));
    }
    let store = place.open_sqlite()?;
    let now_ms = now_ms();
    let revoked_ms = block_on(async {
        let done = store.revoke_key(&args.name, now_ms).await;
        done.map_err(|error| format!("{error} in {file}"))
    })?;
    let name = &args.name;
    if revoked_ms == now_ms {
        say(&format!("The key `{name}` is revoked; a gateway that runs knows within a second."));
    } else {
        say(&format!("The key `{name}` was revoked already: {} UTC.", date_and_time(revoked_ms)));
    }
    Ok(ExitCode::SUCCESS)
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
