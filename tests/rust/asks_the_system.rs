// Files, standard input, random numbers, texts of errors, processors, and numbers that are printed by way of 256 bits.
use std::io::Read;
use std::os::raw::{c_char, c_int, c_long, c_uint, c_void};

unsafe extern "C" {
    fn getrandom(to: *mut c_void, len: usize, flags: c_uint) -> isize;
    fn syscall(number: c_long, ...) -> c_long;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn __xpg_strerror_r(error: c_int, text: *mut c_char, len: usize) -> c_int;
}

// Seeds come from the system in one of four ways, and are there.
fn asks_for_seeds() {
    const GETRANDOM: c_long = 318;
    type Asked = unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize;
    let mut seed = [1u8; 16];
    let to: *mut c_void = seed.as_mut_ptr().cast();
    unsafe {
        assert_eq!(getrandom(to, 4, 0), 4);
        assert_eq!(syscall(GETRANDOM, to.wrapping_byte_add(4), 4usize, 0), 4);
        let found = dlsym(std::ptr::null_mut(), c"getrandom".as_ptr());
        assert!(!found.is_null());
        let asked: Asked = std::mem::transmute(found);
        assert_eq!(asked(to.wrapping_byte_add(8), 4, 0), 4);
        assert!(dlsym(std::ptr::null_mut(), c"getrandomly".as_ptr()).is_null());
    }
    let mut device = std::fs::File::open("/dev/urandom").unwrap();
    device.read_exact(&mut seed[12..14]).unwrap();
    // Closing it asks, with debug assertions, by `fcntl` whether it is open.
    std::mem::forget(device);
    assert_eq!(seed, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
}

fn asks_what_an_error_means() {
    let mut text = [b'-' as c_char; 32];
    unsafe {
        assert_eq!(__xpg_strerror_r(2, text.as_mut_ptr(), text.len()), 0);
        assert!(text.contains(&0));
        assert_ne!(__xpg_strerror_r(2, text.as_mut_ptr(), 1), 0);
    }
    assert!(!std::io::Error::from_raw_os_error(2).to_string().is_empty());
}

fn main() {
    asks_for_seeds();
    asks_what_an_error_means();
    let n = std::thread::available_parallelism().map(|n| n.get());
    assert!(n.is_ok());
    assert!(std::fs::File::open("/etc/passwd").is_err());
    assert!(std::fs::metadata("/etc/passwd").is_err());
    assert!(!std::path::Path::new("/etc").exists());
    let mut s = String::new();
    assert_eq!(std::io::stdin().read_line(&mut s).unwrap(), 0);
    assert_eq!(std::io::stdin().read_to_string(&mut s).unwrap(), 0);
    let big = u128::MAX / 3;
    assert_eq!(format!("{big}").len(), 39);
    let i = i128::MIN + 5;
    assert_eq!(format!("{i:?}"), "-170141183460469231731687303715884105723");
    let f = format!("{:.3} {:e}", 1.5e10_f64, 2.5e-300);
    assert_eq!(f, "15000000000.000 2.5e-300");
}
