//! Runs on the machine that builds, and so must be built for it.

use std::path::PathBuf;

fn main() {
    let file = PathBuf::from(std::env::var_os("OUT_DIR").unwrap()).join("stock.rs");
    std::fs::write(file, "pub const STOCK: u32 = 2;\n").unwrap();
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-cfg=stocked");
    println!("cargo:rustc-check-cfg=cfg(stocked)");
}
