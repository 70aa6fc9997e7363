//! Colours, in one place.

use anstyle::{AnsiColor, Effects, Style};

const THREADS: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Yellow,
    AnsiColor::Magenta,
    AnsiColor::Green,
    AnsiColor::Blue,
    AnsiColor::BrightBlack,
];

/// Wraps texts in colours, or does not.
#[derive(Clone, Copy)]
pub(crate) struct Paint {
    pub(crate) color: bool,
}

impl Paint {
    fn wrap(self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("{}{text}{}", style.render(), style.render_reset())
        } else {
            text.to_owned()
        }
    }

    /// Neighbouring lanes must differ; that the colours repeat after six threads does no harm.
    pub(crate) fn thread(self, lane: usize, text: &str) -> String {
        self.wrap(THREADS[lane % THREADS.len()].on_default(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap(Style::new().effects(Effects::DIMMED), text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap(Style::new().effects(Effects::BOLD), text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.wrap(AnsiColor::Green.on_default().effects(Effects::BOLD), text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.wrap(AnsiColor::Red.on_default().effects(Effects::BOLD), text)
    }

    pub(crate) fn doubtful(self, text: &str) -> String {
        self.wrap(AnsiColor::Yellow.on_default().effects(Effects::BOLD), text)
    }
}
