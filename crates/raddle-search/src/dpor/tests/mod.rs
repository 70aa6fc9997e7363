mod classes;
mod counts;
