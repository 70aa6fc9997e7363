//! A browser under remote control: Chromium without a window, spoken to through two pipes in its own protocol. Named pipes
//! and a shell that redirects them need neither a web socket nor any other dependency.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(crate) struct Browser {
    child: Child,
    input: File,
    output: BufReader<File>,
    session: String,
    next: u64,
    /// What the page's script did wrong.
    pub(crate) errors: Vec<String>,
}

/// The first of Chromium's names that answers.
pub(crate) fn find() -> Option<String> {
    let named = std::env::var("RADDLE_CHROMIUM").ok();
    let names = ["chromium", "chromium-browser", "google-chrome"].map(str::to_owned);
    named.into_iter().chain(names).find(|name| {
        let mut version = Command::new(name);
        version.arg("--version").stderr(Stdio::null());
        version.output().is_ok_and(|output| output.status.success())
    })
}

impl Browser {
    /// Starts the browser with its files in a directory of its own, which must exist.
    pub(crate) fn start(program: &str, directory: &Path) -> Self {
        let (input, output) = (directory.join("input"), directory.join("output"));
        for pipe in [&input, &output] {
            let made = Command::new("mkfifo").arg(pipe).status().unwrap();
            assert!(made.success());
        }
        let child = Command::new("sh")
            .arg("-c")
            .arg("exec \"$0\" \"$@\" 3<\"$INPUT\" 4>\"$OUTPUT\"")
            .arg(program)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu"])
            .args(["--disable-dev-shm-usage", "--no-first-run"])
            .arg("--remote-debugging-pipe")
            .arg(format!(
                "--user-data-dir={}",
                directory.join("user").display()
            ))
            .env("INPUT", &input)
            .env("OUTPUT", &output)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut browser = Self {
            child,
            input: OpenOptions::new().write(true).open(&input).unwrap(),
            output: BufReader::new(File::open(&output).unwrap()),
            session: String::new(),
            next: 0,
            errors: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = browser.call(
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        );
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        browser.call("Runtime.enable", json!({}));
        browser.call("Page.enable", json!({}));
        browser
    }

    /// Calls a method and waits for its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).unwrap();
        loop {
            let message = self.message();
            if message["id"] == self.next {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            if message["method"] == "Runtime.exceptionThrown" {
                self.errors.push(message["params"].to_string());
            }
        }
    }

    fn message(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&bytes).unwrap()
    }

    /// The value of an expression in the page.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let result = self.call(
            "Runtime.evaluate",
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true }),
        );
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    /// Opens a page and waits until its script has run.
    pub(crate) fn open(&mut self, file: &Path) {
        let url = format!("file://{}", file.display());
        self.call("Page.navigate", json!({ "url": url }));
        let ready = format!(
            "new Promise((done) => {{ const look = () => location.href.startsWith({url:?}) && \
             document.documentElement?.dataset.ready === 'true' ? done(true) : setTimeout(look, 20); look(); }})"
        );
        assert_eq!(self.eval(&ready), true);
    }

    /// Presses a key as a user does.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key });
            if key.len() == 1 && kind == "keyDown" {
                event["text"] = key.into();
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
    }

    pub(crate) fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
