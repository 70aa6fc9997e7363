//! Counts of the paper.
