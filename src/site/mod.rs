//! What a site is: the site file, secrets, numbering and names. No network.

pub mod file;
pub mod model;
pub mod names;
pub mod numbering;
pub mod plan_check;
pub mod smbios;
pub mod text;

pub use file::report::SiteErrors;
pub use model::Site;
