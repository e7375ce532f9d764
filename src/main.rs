//! Entry point of the console and its headless verbs.

fn main() {}
