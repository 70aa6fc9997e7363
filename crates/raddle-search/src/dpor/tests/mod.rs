pub(crate) mod classes;
mod counts;
