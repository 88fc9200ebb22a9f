//! The peer program for omq, driven as dev.zmtp.compare.peer.PeerMain is: its package documentation lists roles,
//! workloads, output and commands. It has the workload oneway only.
//!
//! At each end there is one context with its defaults, and one thread of the application, which uses the blocking API:
//! one message is sent many times, and those that have arrived are received many at a time. The main thread reads
//! commands.

use omq_tokio::{Context, Message, Options, SocketType, blocking::Socket};
use std::collections::HashMap;
use std::io::BufRead;
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// Messages that are received at a time, if so many have arrived.
const BATCH: usize = 1024;
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const WORKLOADS: [&str; 8] =
    ["oneway", "connections", "idle", "reqrep", "custom", "roundtrip", "openloop", "latency"];

static MESSAGES: AtomicU64 = AtomicU64::new(0);

fn usage(what: &str) -> ! {
    eprintln!("omq_peer: {what}\nusage: omq_peer <role> key=value...");
    exit(2)
}

fn unsupported(reason: &str) -> ! {
    println!("unsupported={reason}");
    exit(0)
}

fn number(arguments: &HashMap<String, String>, key: &str, most: u64) -> u64 {
    let value = arguments.get(key).map_or("none", String::as_str);
    match value.parse() {
        Ok(number) if (1..=most).contains(&number) => number,
        _ => usage(&format!("{key}: {value} (expected: 1 to {most})")),
    }
}

fn receive_all(socket: &Socket) -> omq_tokio::Result<()> {
    let mut received = Vec::with_capacity(BATCH);
    loop {
        let count = socket.recv_many_into(BATCH, &mut received)?;
        for message in received.drain(..) {
            let first = message.part_bytes(0).and_then(|body| body.first().copied());
            assert_eq!(first, Some(0), "first byte");
        }
        MESSAGES.fetch_add(count as u64, Relaxed);
    }
}

fn send_all(socket: &Socket, size: usize) -> omq_tokio::Result<()> {
    let message = Message::from_slice(&vec![0; size]);
    loop {
        socket.send(message.clone())?;
        MESSAGES.fetch_add(1, Relaxed);
    }
}

/// The endpoint of shared memory with this number. The programs that share it have the same working directory.
fn shared_memory(number: u64) -> String {
    format!("shm://target/compare/omq-{number}")
}

/// Returns the number of the endpoint: the port, or one that the process makes unlikely to be taken.
fn bind(socket: &Socket, shared: bool) -> omq_tokio::Result<String> {
    if shared {
        let number = u64::from(std::process::id()) % 65_535 + 1;
        socket.bind(shared_memory(number).as_str())?;
        return Ok(number.to_string());
    }
    let endpoint = socket.bind("tcp://127.0.0.1:0")?.to_string();
    Ok(endpoint.rsplit(':').next().unwrap_or_default().to_owned())
}

fn nanos(time: libc::timeval) -> i64 {
    time.tv_sec * 1_000_000_000 + time.tv_usec * 1_000
}

fn print_mark() {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both calls write to the structures that they are given, for which zeros are valid.
    let used: libc::rusage = unsafe {
        let mut used = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now);
        libc::getrusage(libc::RUSAGE_SELF, &raw mut used);
        used
    };
    println!(
        "mark nanos={} messages={} cpu={} rss={}",
        now.tv_sec * 1_000_000_000 + now.tv_nsec,
        MESSAGES.load(Relaxed),
        nanos(used.ru_utime) + nanos(used.ru_stime),
        used.ru_maxrss * 1024
    );
}

fn obey() {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match line.as_str() {
            "mark" => print_mark(),
            "exit" => return,
            other => {
                eprintln!("omq_peer: command: {other} (expected: mark or exit)");
                exit(1);
            }
        }
    }
}

fn main() -> omq_tokio::Result<()> {
    let mut words = std::env::args().skip(1);
    let role = words.next().unwrap_or_default();
    let arguments: HashMap<String, String> = words
        .map(|word| match word.split_once('=') {
            Some((key, value)) => (key.to_owned(), value.to_owned()),
            None => usage(&format!("argument: {word} (expected: key=value)")),
        })
        .collect();
    match arguments.get("workload").map(String::as_str) {
        Some("oneway") => {}
        Some(other) if WORKLOADS.contains(&other) => unsupported("it has messages one way only"),
        other => usage(&format!("workload: {} (expected: one that there is)", other.unwrap_or("none"))),
    }
    if arguments.get("security").is_some_and(|value| value == "curve") {
        unsupported("it is built without CURVE");
    }
    let medium = arguments.get("medium").map_or("tcp", String::as_str);
    if medium == "ipc" {
        unsupported("only its TCP and its shared memory are measured");
    }
    if arguments.get("polling").is_some_and(|value| value == "busy") {
        unsupported("its I/O thread always blocks");
    }
    let size = usize::try_from(number(&arguments, "size", 1 << 26)).expect("64 MiB at most");
    let context = Context::new();
    match role.as_str() {
        "receive" => {
            let socket = context.blocking_socket(SocketType::Pull, Options::default());
            println!("port={}", bind(&socket, medium == "shm")?);
            thread::spawn(move || receive_all(&socket).expect("receive"));
        }
        "send" => {
            let port = number(&arguments, "port", 65_535);
            let socket = context.blocking_socket(SocketType::Push, Options::default());
            if medium == "shm" {
                socket.connect(shared_memory(port).as_str())?;
            } else {
                socket.connect(format!("tcp://127.0.0.1:{port}").as_str())?;
            }
            if socket.wait_connected(1, HANDSHAKE_TIMEOUT)? < 1 {
                usage("port: nobody answers (expected: a ZMTP peer)");
            }
            println!("ready");
            thread::spawn(move || send_all(&socket, size).expect("send"));
        }
        "pair" => unsupported("its ends are in two processes"),
        other => usage(&format!("role: {other} (expected: receive or send)")),
    }
    obey();
    exit(0) // the sockets are not closed, as other threads use them
}
