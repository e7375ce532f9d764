//! Rules on evidence made by hand: a healthy site, one thing wrong at a time, and what looks alike. Each must give
//! exactly its own id.

#[path = "findings/access.rs"]
mod access;
#[path = "findings/by_hand.rs"]
mod by_hand;
#[path = "findings/exits.rs"]
mod exits;
#[path = "findings/fabric.rs"]
mod fabric;
#[path = "findings/names.rs"]
mod names;
#[path = "findings/perimeter.rs"]
mod perimeter;
