//! Servers as they should not be.

use std::io::{self, BufRead, Read, Write};
use std::net::TcpListener;
use std::process::{Command, exit};
use std::thread;
use std::time::Duration;

use crate::Outcome;

const GREETING: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}}"#;

/// Beyond any test; the client has to end it.
fn sleep_on() -> ! {
    loop {
        thread::sleep(Duration::from_secs(600));
    }
}

/// Answers the greeting, then gives the next request to `then`.
fn greet(then: impl FnOnce(&str)) -> io::Result<()> {
    let mut lines = io::stdin().lock().lines();
    lines.next().transpose()?;
    writeln!(io::stdout(), "{GREETING}")?;
    lines.next().transpose()?;
    if let Some(line) = lines.next() {
        then(&line?);
    }
    Ok(())
}

/// Writes one line without an end.
fn flood() {
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..1024 {
        if io::stdout().write_all(&chunk).is_err() {
            exit(9);
        }
    }
    sleep_on();
}

pub(crate) fn serve(kind: &str) -> Outcome {
    match kind {
        "exits" => {
            io::stderr().write_all(b"first line\nno licence found\n")?;
            exit(7);
        }
        "hangs" => sleep_on(),
        "chats" => {
            io::stdout().write_all(b"Welcome to the server!\nListening.\n")?;
            sleep_on();
        }
        "floods" => flood(),
        "floods-errors" => {
            let chunk = vec![b'e'; 1 << 20];
            (0..256).try_for_each(|_| io::stderr().write_all(&chunk))?;
            exit(1);
        }
        "old" => {
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line)?;
            writeln!(io::stdout(), "{}", GREETING.replace("2025-06-18", "1999-01-01"))?;
            sleep_on();
        }
        "dies-later" => greet(|_| exit(5))?,
        "floods-later" => greet(|_| flood())?,
        "hangs-later" => greet(|_| sleep_on())?,
        // Ignores that its input is closed, and starts a process that ignores all but a kill.
        "stays" => {
            let script = "trap '' TERM; while :; do sleep 600; done";
            let left = Command::new("sh").args(["-c", script]).spawn()?;
            greet(|_| {})?;
            writeln!(io::stderr(), "{}", left.id())?;
            sleep_on();
        }
        other => return Err(format!("no such server: {other}").into()),
    }
    Ok(())
}

/// Answers every request with the same bytes, and then with `more` for as long as they are taken.
/// Gives the URL.
pub(crate) fn serve_http(answer: &'static [u8], more: &'static [u8]) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            thread::spawn(move || {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request);
                let mut taken = stream.write_all(answer).is_ok() && !more.is_empty();
                while taken {
                    taken = stream.write_all(more).is_ok();
                }
            });
        }
    });
    Ok(url)
}
