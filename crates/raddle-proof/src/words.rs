//! The words of a line.

use crate::fault::Fault;
use crate::lit::Lit;

pub(crate) struct Words<'a>(std::iter::Peekable<std::str::SplitAsciiWhitespace<'a>>);

impl<'a> Words<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        Self(line.split_ascii_whitespace().peekable())
    }

    pub(crate) fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    pub(crate) fn is_empty(&mut self) -> bool {
        self.0.peek().is_none()
    }

    pub(crate) fn end(mut self) -> Result<(), Fault> {
        match self.next() {
            None => Ok(()),
            Some(_) => Err(Fault::Long),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u32, Fault> {
        number(self.next().ok_or(Fault::Short)?)
    }

    /// All that are left.
    pub(crate) fn numbers(&mut self) -> Result<Vec<u32>, Fault> {
        self.0.by_ref().map(number).collect()
    }

    pub(crate) fn literal(&mut self) -> Result<Lit, Fault> {
        self.literal_or_end()?.ok_or_else(|| Fault::NoNumber {
            word: "0".to_owned(),
        })
    }

    /// Up to the 0 that ends the list; sorted, each once.
    pub(crate) fn literals(&mut self) -> Result<Vec<Lit>, Fault> {
        let mut literals = Vec::new();
        while let Some(literal) = self.literal_or_end()? {
            literals.push(literal);
        }
        literals.sort_unstable();
        literals.dedup();
        Ok(literals)
    }

    fn literal_or_end(&mut self) -> Result<Option<Lit>, Fault> {
        let word = self.next().ok_or(Fault::NoEnd)?;
        let fault = || Fault::NoNumber {
            word: word.to_owned(),
        };
        match word.parse().map_err(|_| fault())? {
            0 => Ok(None),
            number => Lit::from_number(number).map(Some).ok_or_else(fault),
        }
    }
}

fn number(word: &str) -> Result<u32, Fault> {
    word.parse().map_err(|_| Fault::NoNumber {
        word: word.to_owned(),
    })
}
