//! Headless verbs: arguments → engine → printer.
