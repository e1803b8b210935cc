//! Several processes on one journal, some of them killed.
//!
//! The program starts itself again as a writer: `processes write FILE PREFIX SESSIONS APPENDS`.

use std::collections::BTreeMap;
use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use steersman_store::{
    Append, AskLease, Entry, FileFault, Head, NewEntry, Options, SessionId, SqliteStore, Store,
    StoreError,
};
use tokio::runtime::Builder;

type Outcome = Result<(), Box<dyn std::error::Error>>;
type Check = fn() -> Outcome;

/// How often a writer is killed.
const ROUNDS: u64 = 20;
/// A kill comes at most that long after a writer's first append.
const MAX_LIFE_MS: u64 = 60;

fn main() -> Outcome {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["write", file, prefix, sessions, appends] => {
            write(file, prefix, sessions.parse()?, appends.parse()?)
        }
        ["fill", file] => fill(file),
        _ => check_all(),
    }
}

fn check_all() -> Outcome {
    let checks: [(&str, Check); 4] = [
        ("a_kill_loses_no_acknowledged_entry", a_kill_loses_no_acknowledged_entry),
        ("two_processes_append_at_once", two_processes_append_at_once),
        ("a_lease_holds_across_processes", a_lease_holds_across_processes),
        ("a_full_disk_is_survived", a_full_disk_is_survived),
    ];
    let mut out = io::stdout().lock();
    for (name, check) in checks {
        write!(out, "test {name} ... ")?;
        out.flush()?;
        check()?;
        writeln!(out, "ok")?;
    }
    writeln!(out, "test result: ok. {} passed; 0 failed", checks.len())?;
    Ok(())
}

fn run<T>(future: impl Future<Output = T>) -> Result<T, io::Error> {
    Ok(Builder::new_current_thread().build()?.block_on(future))
}

/// Appends one to three entries at a time to each session, from as many tasks, and names each
/// append on stdout once it is acknowledged.
fn write(file: &str, prefix: &str, sessions: usize, appends: usize) -> Outcome {
    let store = Arc::new(SqliteStore::open(file, &Options::default())?);
    let runtime = Builder::new_multi_thread().worker_threads(2).build()?;
    let mut tasks = Vec::new();
    for session in 0..sessions {
        let id = SessionId::new(&format!("{prefix}{session}"))?;
        tasks.push(runtime.spawn(write_one(Arc::clone(&store), id, appends)));
    }
    for task in tasks {
        runtime.block_on(task)??;
    }
    Ok(())
}

async fn write_one(
    store: Arc<SqliteStore>,
    id: SessionId,
    appends: usize,
) -> Result<(), StoreError> {
    if store.session(&id).await?.is_none() {
        store.create(&id, Head::default(), 0).await?;
    }
    let mut last = store.session(&id).await?.map_or(0, |session| session.last_seq);
    for _ in 0..appends {
        let (first, length) = (last + 1, last % 3 + 1);
        let entries = (first..first + length).map(|seq| NewEntry {
            at_ms: seq,
            kind: "part".to_owned(),
            body: format!("[{seq},{first},{length}]").into(),
        });
        last = store.append(&id, Append::new(last, entries.collect())).await?;
        // One write, so that a kill cannot leave half of it.
        let line = format!("{id} {last}\n");
        if io::stdout().write_all(line.as_bytes()).is_err() {
            break;
        }
    }
    Ok(())
}

fn start(arguments: &[&str]) -> io::Result<Child> {
    Command::new(env::current_exe()?).args(arguments).stdout(Stdio::piped()).spawn()
}

/// The last acknowledged entry of each session, by name.
type Acknowledged = BTreeMap<String, u64>;

fn take_line(line: &str, acknowledged: &mut Acknowledged) -> Outcome {
    let (id, seq) = line.trim_end().split_once(' ').ok_or("half a line")?;
    acknowledged.insert(id.to_owned(), seq.parse()?);
    Ok(())
}

/// Every session is gapless, in order, of whole appends, and has all that was acknowledged.
fn check_stored(
    file: &Path,
    acknowledged: &Acknowledged,
) -> Result<u64, Box<dyn std::error::Error>> {
    let store = SqliteStore::open(file, &Options::default())?;
    let mut total = 0;
    for (name, seq) in acknowledged {
        let entries = run(read_all(&store, &SessionId::new(name)?))??;
        assert!(entries.len() as u64 >= *seq, "{name}: {} of {seq}", entries.len());
        let mut next = 1;
        while let Some(first) = entries.get(next as usize - 1) {
            let length = (next - 1) % 3 + 1;
            for (entry, seq) in entries[next as usize - 1..].iter().zip(next..next + length) {
                assert_eq!((entry.seq, &entry.body), (seq, &format!("[{seq},{next},{length}]")));
            }
            next = first.seq + length;
        }
        assert_eq!(next, entries.len() as u64 + 1, "{name}: half an append");
        total += entries.len() as u64;
    }
    Ok(total)
}

async fn read_all(store: &SqliteStore, id: &SessionId) -> Result<Vec<Entry>, StoreError> {
    let mut entries = Vec::new();
    loop {
        let page = store.read(id, entries.len() as u64, 1000).await?;
        if page.is_empty() {
            return Ok(entries);
        }
        entries.extend(page);
    }
}

fn a_kill_loses_no_acknowledged_entry() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("journal.db");
    let name = file.to_string_lossy();
    let (mut acknowledged, mut draw) = (Acknowledged::new(), 12345_u64);
    for _ in 0..ROUNDS {
        let mut child = start(&["write", &name, "s", "4", "1000000"])?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut line = String::new();
        lines.read_line(&mut line)?;
        take_line(&line, &mut acknowledged)?;
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let life = Duration::from_micros((draw >> 33) % (MAX_LIFE_MS * 1000));
        let killer = thread::spawn(move || {
            thread::sleep(life);
            child.kill().and_then(|()| child.wait())
        });
        for line in lines.lines() {
            take_line(&line?, &mut acknowledged)?;
        }
        killer.join().map_err(|_| "the killer panicked")??;
        check_stored(&file, &acknowledged)?;
    }
    let total: u64 = acknowledged.values().sum();
    assert!(total >= ROUNDS, "{total} entries in {ROUNDS} rounds");
    Ok(())
}

fn two_processes_append_at_once() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("journal.db");
    let name = file.to_string_lossy();
    let writers =
        [start(&["write", &name, "a", "3", "30"])?, start(&["write", &name, "b", "3", "30"])?];
    let mut acknowledged = Acknowledged::new();
    for writer in writers {
        let output = writer.wait_with_output()?;
        assert!(output.status.success());
        for line in String::from_utf8(output.stdout)?.lines() {
            take_line(line, &mut acknowledged)?;
        }
    }
    assert_eq!(acknowledged.len(), 6);
    // Thirty appends of 1, 2, 3, 1, ... entries, where the length follows from the last entry.
    let each = (0..30).fold(0, |last, _| last + last % 3 + 1);
    assert_eq!(check_stored(&file, &acknowledged)?, 6 * each);
    Ok(())
}

fn a_lease_holds_across_processes() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("journal.db");
    let writer = start(&["write", &file.to_string_lossy(), "a", "1", "3"])?;
    assert!(writer.wait_with_output()?.status.success());
    let [ours, theirs] = [(); 2].map(|()| SqliteStore::open(&file, &Options::default()));
    let (ours, theirs, id) = (ours?, theirs?, SessionId::new("a0")?);
    run(async {
        let lease = ours.lease(&id, AskLease::new("ours", 100, 1)).await?;
        let refused = theirs.lease(&id, AskLease::new("theirs", 100, 2)).await;
        assert!(matches!(refused, Err(StoreError::Held { until_ms: 101, .. })), "{refused:?}");
        let taken = theirs.lease(&id, AskLease::new("theirs", 100, 101)).await?;
        let last = ours.session(&id).await?.map_or(0, |session| session.last_seq);
        let late = ours.append(&id, Append::new(last, Vec::new()).with_epoch(lease.epoch)).await;
        assert_eq!(late, Err(StoreError::LeaseLost { id: id.clone(), epoch: lease.epoch }));
        theirs.append(&id, Append::new(last, Vec::new()).with_epoch(taken.epoch)).await?;
        Ok(())
    })?
}

/// Fills a small file system, of its own mount namespace, where the system allows that.
fn a_full_disk_is_survived() -> Outcome {
    let folder = tempfile::tempdir()?;
    let mount = "mount -t tmpfs -o size=2m none \"$0\" && exec \"$1\" fill \"$0/journal.db\"";
    let done = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-ec", mount])
        .args([folder.path(), &env::current_exe()?])
        .output();
    let text = match &done {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    let cannot_mount = done.is_err() || text.contains("unshare") || text.contains("mount:");
    assert!(cannot_mount, "{text}");
    // The same by a limit on the file's size is among the tests of faults.
    write!(io::stdout(), "skipped, no file system of our own: {} ", text.trim())?;
    Ok(())
}

fn fill(file: &str) -> Outcome {
    let store = SqliteStore::open(file, &Options::default())?;
    let [a, b] = ["a", "b"].map(SessionId::new);
    let (a, b, body) = (a?, b?, format!("{:?}", "x".repeat(20_000)));
    let entry = || NewEntry { at_ms: 0, kind: "part".to_owned(), body: body.clone().into() };
    run(async {
        store.create(&a, Head::default(), 0).await?;
        store.create(&b, Head::default(), 0).await?;
        store.append(&b, Append::new(0, vec![entry(); 10])).await?;
        let mut last = 0;
        let error = loop {
            match store.append(&a, Append::new(last, vec![entry()])).await {
                Ok(seq) => last = seq,
                Err(error) => break error,
            }
            assert!(last < 1000);
        };
        let full = matches!(&error, StoreError::File { fault: FileFault::Full, .. });
        assert!(full && error.is_passing(), "{error}");
        assert!(last >= 10, "{last}");
        assert_eq!(store.read(&a, 0, 1000).await?.len() as u64, last);
        Ok(())
    })?
}
