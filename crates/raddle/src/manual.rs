//! `raddle completions` and `raddle man`: both made from the command line itself, so that they cannot be wrong.

use crate::Status;
use crate::cli::Cli;
use crate::error::Error;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

pub(crate) fn completions(shell: Shell) -> Result<Status, Error> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "raddle", &mut text);
    print(&text)
}

/// The page of Raddle, or of one of its commands.
pub(crate) fn page(command: Option<&str>) -> Result<Status, Error> {
    // Built, so that the pages of commands name the whole line.
    let mut raddle = Cli::command().disable_help_subcommand(true);
    raddle.build();
    let page = match command {
        None => raddle,
        Some(name) => match raddle.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                let commands = raddle.get_subcommands().map(clap::Command::get_name);
                let commands: Vec<&str> = commands.collect();
                return Err(Error::UnknownCommand {
                    command: name.to_owned(),
                    commands: commands.join(", "),
                });
            }
        },
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text).map_err(Error::Output)?;
    print(&text)
}

fn print(text: &[u8]) -> Result<Status, Error> {
    crate::print(&String::from_utf8_lossy(text))?;
    Ok(Status::Verified)
}
