//! Rules on evidence made by hand: a healthy site, one thing wrong at a time, and what looks alike. Each must give
//! exactly its own id.
#![cfg(feature = "console")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail"
)]

#[path = "findings/access.rs"]
mod access;
#[path = "findings/border.rs"]
mod border;
#[path = "findings/by_hand.rs"]
mod by_hand;
#[path = "findings/exits.rs"]
mod exits;
#[path = "findings/fabric.rs"]
mod fabric;
#[path = "findings/lint.rs"]
mod lint;
#[path = "findings/names.rs"]
mod names;
#[path = "findings/perimeter.rs"]
mod perimeter;
#[path = "findings/provisioning.rs"]
mod provisioning;
#[path = "findings/reach.rs"]
mod reach;
#[path = "findings/refused.rs"]
mod refused;
#[path = "findings/roots.rs"]
mod roots;
#[path = "findings/services.rs"]
mod services;
#[path = "findings/several.rs"]
mod several;
#[path = "findings/told.rs"]
mod told;
#[path = "findings/whose.rs"]
mod whose;
