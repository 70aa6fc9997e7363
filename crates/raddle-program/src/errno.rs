//! Error numbers of Linux, as library functions and operations on synchronisation objects return them.

pub const EPERM: u64 = 1;
pub const ENOENT: u64 = 2;
pub const EBADF: u64 = 9;
pub const EAGAIN: u64 = 11;
pub const ENOMEM: u64 = 12;
pub const EBUSY: u64 = 16;
pub const EEXIST: u64 = 17;
pub const EINVAL: u64 = 22;
pub const ESPIPE: u64 = 29;
pub const ERANGE: u64 = 34;
pub const EDEADLK: u64 = 35;
pub const ENOSYS: u64 = 38;
pub const ETIMEDOUT: u64 = 110;
