//! `site.toml` of a bundle: what the site expects of its exit nodes.

use std::path::Path;

use super::{Facts, Reader, Sourced, Taken};
use crate::diagnose::evidence::{Item, Kind};
use crate::site::Site;

/// Readers of this area.
pub(super) const READERS: &[Reader] = &[site];

/// Name of the file.
const FILE: &str = "site.toml";

fn site(item: &Item, facts: &mut Facts) -> Taken {
    if item.file != FILE || !matches!(item.kind, Kind::Material(_)) {
        return Taken::NotMine;
    }
    match Site::parse(&item.body, Path::new(FILE)) {
        Ok(site) => {
            facts.site = Some(Sourced::new(site, item));
            Taken::Read
        }
        Err(why) => Taken::Unreadable(why.to_string()),
    }
}
