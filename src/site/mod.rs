//! What a site is: the site file, secrets, numbering and names. No network.

pub mod model;

pub use model::Site;
