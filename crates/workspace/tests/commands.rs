//! Commands: their bounds, their end, and what they may write.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::panic,
    reason = "a test"
)]

mod support;

use std::future::pending;
use std::path::Path;
use std::process::Command as Process;
use std::time::{Duration, Instant};

use steersman_workspace::{Command, Confinement, Network, Ran, Shell, ShellOptions};
use support::Place;

fn shell(place: &Place) -> Shell {
    Shell::new(&place.workspace(), ShellOptions::default()).unwrap()
}

fn run(shell: &Shell, command: Command) -> Ran {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(shell.run(command, pending())).unwrap()
}

fn line(shell: &Shell, line: &str) -> Ran {
    run(shell, Command::new(line))
}

/// What came of the line, without the time it took.
fn check(line_: &str, expected: (Option<i32>, Option<i32>, &str)) {
    let place = Place::new();
    let ran = line(&shell(&place), line_);
    assert_eq!((ran.exit_code, ran.signal, &*ran.output), expected, "{line_}");
}

/// Whether a process is there whose command line holds the text.
fn is_running(text: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(text))
}

fn is_confined(shell: &Shell) -> bool {
    let confined = matches!(shell.confinement(), Confinement::Landlock { .. });
    if !confined {
        eprintln!("skipped: {}", shell.confinement());
    }
    confined
}

#[test]
fn output_and_endings_are_told() {
    check("echo out; echo err >&2; echo out", (Some(0), None, "out\nerr\nout\n"));
    check("exit 3", (Some(3), None, ""));
    check("kill -9 $$", (None, Some(9), ""));
    check("cat", (Some(0), None, ""));
    check(r"printf 'a\377b'", (Some(0), None, "a\u{fffd}b"));
    check("set -o pipefail; false | true; echo $?", (Some(0), None, "1\n"));
    check("echo $TERM $PAGER $GIT_PAGER", (Some(0), None, "dumb cat cat\n"));
    check("echo x > $TMPDIR/file && cat $TMPDIR/file", (Some(0), None, "x\n"));
    let place = Place::new();
    let shell = shell(&place);
    let ran = line(&shell, "pwd");
    assert_eq!(Path::new(ran.output.trim()), place.root);
    assert!(!ran.timed_out && !ran.cancelled && ran.left_running == 0);
}

#[test]
fn time_runs_out_for_everything_that_was_started() {
    let place = Place::new();
    let shell = shell(&place);
    for (line, trace) in [
        ("echo begun; sleep 7391", "sleep 7391"),
        ("trap '' TERM; echo begun; sleep 7392; sleep 7392", "sleep 7392"),
        ("echo begun; sleep 7393 & wait", "sleep 7393"),
        ("echo begun; setsid sleep 7394; true", "sleep 7394"),
        (
            "echo begun; (setsid sh -c 'trap \"\" TERM; sleep 7395; sleep 7395' &); sleep 7395",
            "sleep 7395",
        ),
        ("echo begun; yes 7396", "yes 7396"),
    ] {
        let ran = run(&shell, Command { timeout_ms: 300, ..Command::new(line) });
        assert!(ran.timed_out && !ran.cancelled, "{line}: {ran:?}");
        assert!(ran.output.starts_with("begun\n"), "{line}: {ran:?}");
        assert!(ran.wall_ms < 3_000, "{line}: {ran:?}");
        assert!(!is_running(trace), "{line}");
    }
}

#[test]
fn what_holds_the_pipe_does_not_hold_us() {
    let place = Place::new();
    let shell = shell(&place);
    for (line_, trace) in [
        ("echo done; sleep 7401 &", "sleep 7401"),
        ("echo done; setsid sleep 7402 & sleep 0.2", "sleep 7402"),
        ("echo done; nohup setsid sleep 7403 >/dev/null 2>&1 & sleep 0.2", "sleep 7403"),
    ] {
        let ran = line(&shell, line_);
        assert_eq!((ran.exit_code, &*ran.output), (Some(0), "done\n"), "{line_}");
        assert!(ran.wall_ms < 3_000 && ran.left_running > 0, "{line_}: {ran:?}");
        assert!(!is_running(trace), "{line_}");
    }
}

#[test]
fn a_command_ends_when_cancelled_or_dropped() {
    let place = Place::new();
    let shell = shell(&place);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let soon = tokio::time::sleep(Duration::from_millis(200));
        let ran = shell.run(Command::new("echo begun; sleep 7411"), soon).await.unwrap();
        assert!(ran.cancelled && !ran.timed_out && ran.output == "begun\n", "{ran:?}");
        assert!(!is_running("sleep 7411"));
        let dropped = shell.run(Command::new("sleep 7412"), pending());
        let _ = tokio::time::timeout(Duration::from_millis(300), dropped).await;
    });
    let deadline = Instant::now() + Duration::from_secs(5);
    while is_running("sleep 7412") {
        assert!(Instant::now() < deadline, "it is still running");
        std::thread::yield_now();
    }
}

#[test]
fn many_commands_run_side_by_side() {
    let place = Place::new();
    let shell = std::sync::Arc::new(shell(&place));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let begun = Instant::now();
    runtime.block_on(async {
        let running: Vec<_> = (0..20)
            .map(|number| {
                let shell = std::sync::Arc::clone(&shell);
                let command = Command::new(format!("sleep 0.5; echo {number}"));
                tokio::spawn(async move { shell.run(command, pending()).await })
            })
            .collect();
        for (number, command) in running.into_iter().enumerate() {
            assert_eq!(command.await.unwrap().unwrap().output, format!("{number}\n"));
        }
    });
    assert!(begun.elapsed() < Duration::from_secs(8), "they ran one after the other");
}

#[test]
fn commands_write_only_where_they_may() {
    let place = Place::new();
    let shell = shell(&place);
    if !is_confined(&shell) {
        return;
    }
    let outside = place.root.with_file_name("outside");
    std::fs::write(&outside, "outside").unwrap();
    let outside = outside.to_str().unwrap();
    let allowed = [
        "echo x > file && mkdir -p a/b && mv file a/b/file && rm -r a".to_owned(),
        "ln -s /etc/passwd link && cat link > copy".into(),
        "echo x > /dev/null && echo x > $TMPDIR/y && echo x >> /dev/full || true".into(),
        format!("cat {outside}"),
        "mkfifo pipe && chmod 600 pipe && rm pipe".into(),
    ];
    for line_ in allowed {
        let ran = line(&shell, &line_);
        assert_eq!(ran.exit_code, Some(0), "{line_}: {ran:?}");
    }
    let refused = [
        format!("echo x > {outside}"),
        format!("echo x >> {outside}"),
        format!("truncate -s 0 {outside}"),
        format!("rm {outside}"),
        format!("mv {outside} inside"),
        format!("ln {outside} inside && echo x > inside"),
        format!("ln -s {outside} through && echo x > through"),
        format!("echo x > {outside}-new"),
        format!("mkdir {outside}-folder"),
        format!("sh -c 'setsid sh -c \"echo x > {outside}\"'"),
        format!("echo x > ../{}", "escaped"),
        "touch \"$HOME/steersman-was-here\"".into(),
    ];
    for line_ in refused {
        let ran = line(&shell, &line_);
        assert_ne!(ran.exit_code, Some(0), "{line_}: {ran:?}");
        assert_eq!(std::fs::read_to_string(outside).unwrap(), "outside", "{line_}");
    }
    // This process itself is not held.
    std::fs::write(outside, "still").unwrap();
    assert!(line(&shell, "kill -0 $PPID").exit_code != Some(0), "it can signal us");
}

#[test]
fn the_network_can_be_blocked() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
    let mut options = ShellOptions::default();
    options.network = Network::NoTcp;
    match Shell::new(&place.workspace(), options) {
        Ok(closed) => assert_ne!(line(&closed, &connect).exit_code, Some(0)),
        Err(error) => {
            assert!(error.to_string().starts_with("cannot block the network"), "{error}");
            eprintln!("skipped: {error}");
        }
    }
    if Process::new("bash").arg("--version").output().is_ok() {
        assert_eq!(line(&shell(&place), &connect).exit_code, Some(0));
    }
}

#[test]
fn without_confinement_the_user_is_told() {
    let place = Place::new();
    let mut options = ShellOptions::default();
    options.confined = false;
    let shell = Shell::new(&place.workspace(), options).unwrap();
    let told = "commands are not confined and write wherever you may: switched off";
    assert_eq!(shell.confinement().to_string(), told);
    assert_eq!(line(&shell, "echo x > ../beside && cat ../beside").output, "x\n");
}

#[test]
fn cargo_tests_a_package_offline() {
    let place = Place::new();
    place.write("Cargo.toml", "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    place.write("src/lib.rs", "#[test]\nfn one() { assert_eq!(1, 1) }\n");
    if Process::new("cargo").arg("--version").output().is_err() {
        eprintln!("skipped: there is no cargo on this machine");
        return;
    }
    let ran = line(&shell(&place), "cargo test --offline");
    assert_eq!(ran.exit_code, Some(0), "{}", ran.output);
    assert!(ran.output.contains("1 passed"), "{}", ran.output);
}
