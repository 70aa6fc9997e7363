//! `raddle check`.
