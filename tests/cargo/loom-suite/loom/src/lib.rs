compile_error!("cargo raddle brings its own");
