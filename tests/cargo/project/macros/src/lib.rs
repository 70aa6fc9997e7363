//! Runs in the compiler, and so must be built for the machine that builds.

use proc_macro::TokenStream;

#[proc_macro]
pub fn price(_: TokenStream) -> TokenStream {
    "5_u32".parse().unwrap()
}
