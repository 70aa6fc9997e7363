compile_error!("something else is compiled in its place");
