//! The states of panes.
