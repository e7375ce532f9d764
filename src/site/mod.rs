//! What a site is: the site file, secrets, numbering and names. No network.

pub mod file;
pub mod model;
pub mod names;
pub mod numbering;
pub mod places;
pub mod plan_check;
pub mod scrub;
pub mod secret;
pub mod smbios;
pub mod text;
pub mod user_config;

pub use file::report::SiteErrors;
pub use model::Site;
pub use places::Places;
pub use secret::{Secret, SecretError};
pub use user_config::UserConfig;
