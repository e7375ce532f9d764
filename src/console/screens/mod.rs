//! The bodies of the screens.

pub mod activity;
pub mod board;
pub mod change;
pub mod checkins;
pub mod diagnose;
pub mod evidence;
pub mod fabric;
pub mod isolation;
pub mod list;
pub mod overview;
pub mod pane;
pub mod rail;
pub mod records;
pub mod resolve;
pub mod rules;
pub mod tabs;
pub mod text;
pub mod too_small;
pub mod vrfs;
