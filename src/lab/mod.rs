//! An invented site that speaks over sockets and commands, for demo, training and tests.
