// Whoever formats takes a lock while standard output is locked; somebody else has that lock and prints.
use std::fmt;
use std::sync::Mutex;
use std::thread;

static TOTAL: Mutex<u32> = Mutex::new(0);

struct Total;

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", TOTAL.lock().unwrap())
    }
}

struct Noisy;

impl fmt::Display for Noisy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Noticed by others, so that standard output is locked here.
        static SEEN: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        SEEN.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        f.write_str("noisy")
    }
}

fn main() {
    let thread = thread::spawn(|| println!("total {Total}"));
    {
        let _total = TOTAL.lock().unwrap();
        println!("{Noisy}");
    }
    thread.join().unwrap();
}
