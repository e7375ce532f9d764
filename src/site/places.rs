//! Where the program's files are: the XDG base directories, and the site files in them.

use std::io;
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, Xdg};

use super::model::Site;
use super::text::{nearest, printable};

/// Directory of this program below each base directory.
const OWN: &str = "deevnet-console";

/// The directories of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    config: PathBuf,
    state: PathBuf,
}

/// A site file found by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteEntry {
    /// File name without `.toml`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

/// Why no site file could be chosen.
#[derive(Debug, thiserror::Error)]
pub enum PlacesError {
    /// There is no home directory to start from.
    #[error("there is no home directory: HOME is not set")]
    NoHome,
    /// The directory of site files cannot be listed.
    #[error("{} cannot be listed: {}", shown(.0), .1)]
    Unreadable(PathBuf, io::ErrorKind),
    /// A path was given, and there is no such file.
    #[error("there is no site file {}", shown(.0))]
    NoFile(PathBuf),
    /// A name was given, and there is no site of that name.
    #[error("there is no site `{}` in {}", printable(name), shown(dir))]
    Unknown {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        dir: PathBuf,
        /// What is there.
        known: Vec<String>,
        /// Whether `config.toml` asked for it, not the command line.
        by_default: bool,
    },
    /// None was asked for, and there is none.
    #[error("there is no site file in {}", shown(.0))]
    None(PathBuf),
    /// None was asked for, and there are several.
    #[error("there are several sites: {}", join(.0))]
    Several(Vec<String>),
}

impl PlacesError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NoHome => "set HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME".to_owned(),
            Self::Unreadable(..) => "check the owner and the mode of the directory".to_owned(),
            Self::NoFile(_) => "give the path of a site file, or the name of a site".to_owned(),
            Self::Unknown { known, .. } if known.is_empty() => NO_SITE.to_owned(),
            Self::Unknown { name, known, by_default, .. } => {
                let place = if *by_default { "default_site in config.toml names it; " } else { "" };
                match nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => format!("{place}did you mean `{}`? Sites here: {}", printable(near), join(known)),
                    None => format!("{place}sites here: {}", join(known)),
                }
            }
            Self::None(_) => NO_SITE.to_owned(),
            Self::Several(_) => "choose one with --site NAME, or set default_site in config.toml".to_owned(),
        }
    }
}

const NO_SITE: &str =
    "`deevnet-console init` writes one; docs/configuration.md has one to start from; `deevnet-console demo` needs none";

fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

fn join(names: &[String]) -> String {
    names.iter().map(|name| printable(name)).collect::<Vec<_>>().join(", ")
}

impl Places {
    /// The directories the environment asks for: `XDG_CONFIG_HOME` and `XDG_STATE_HOME`, else below `HOME`.
    ///
    /// # Errors
    /// [`PlacesError::NoHome`] when there is nothing to start from.
    pub fn from_environment() -> Result<Self, PlacesError> {
        let xdg = Xdg::new().map_err(|_| PlacesError::NoHome)?;
        let state = xdg.state_dir().ok_or(PlacesError::NoHome)?;
        Ok(Self::below(&xdg.config_dir(), &state))
    }

    /// The directories below the given base directories.
    #[must_use]
    pub fn below(config: &Path, state: &Path) -> Self {
        Self { config: config.join(OWN), state: state.join(OWN) }
    }

    /// The program's configuration directory.
    #[must_use]
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// The user's preferences.
    #[must_use]
    pub fn user_config(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The directory of site files.
    #[must_use]
    pub fn sites_dir(&self) -> PathBuf {
        self.config.join("sites")
    }

    /// Where `site` keeps journal, plans, bundles and logs.
    #[must_use]
    pub fn state_of(&self, site: &Site) -> PathBuf {
        site.state_dir.clone().unwrap_or_else(|| self.state.join(&site.name))
    }

    /// All site files, by name.
    ///
    /// # Errors
    /// [`PlacesError::Unreadable`]; a directory that does not exist holds no sites.
    pub fn sites(&self) -> Result<Vec<SiteEntry>, PlacesError> {
        let dir = self.sites_dir();
        let unreadable = |error: io::Error| PlacesError::Unreadable(dir.clone(), error.kind());
        let entries = match std::fs::read_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(unreadable)?,
        };
        let mut sites = Vec::new();
        for entry in entries {
            let path = entry.map_err(unreadable)?.path();
            let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".toml"));
            // Editors leave hidden files beside those they have open.
            let name = name.filter(|name| !name.is_empty() && !name.starts_with('.')).map(str::to_owned);
            if let Some(name) = name.filter(|_| path.is_file()) {
                sites.push(SiteEntry { name, path });
            }
        }
        sites.sort();
        Ok(sites)
    }

    /// The site file to use: `wanted` (a path, or a name), else `default_site`, else the only one there is.
    ///
    /// # Errors
    /// [`PlacesError`], naming the sites to choose from.
    pub fn choose(&self, wanted: Option<&str>, default_site: Option<&str>) -> Result<PathBuf, PlacesError> {
        if let Some(path) = wanted.filter(|wanted| wanted.contains('/') || wanted.ends_with(".toml")) {
            let path = PathBuf::from(path);
            return if path.is_file() { Ok(path) } else { Err(PlacesError::NoFile(path)) };
        }
        let sites = self.sites()?;
        let names = || sites.iter().map(|site| site.name.clone()).collect();
        if let Some(name) = wanted.or(default_site) {
            return sites.iter().find(|site| site.name == name).map(|site| site.path.clone()).ok_or_else(|| {
                let (name, by_default) = (name.to_owned(), wanted.is_none());
                PlacesError::Unknown { name, dir: self.sites_dir(), known: names(), by_default }
            });
        }
        match sites.as_slice() {
            [only] => Ok(only.path.clone()),
            [] => Err(PlacesError::None(self.sites_dir())),
            _ => Err(PlacesError::Several(names())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(sites: &[&str]) -> (tempfile::TempDir, Places) {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::below(&dir.path().join("config"), &dir.path().join("state"));
        if !sites.is_empty() {
            std::fs::create_dir_all(places.sites_dir()).unwrap();
        }
        for site in sites {
            std::fs::write(places.sites_dir().join(site), "").unwrap();
        }
        (dir, places)
    }

    #[test]
    fn sites_are_listed_by_name() {
        let (_dir, places) = places(&["mobile.toml", "home.toml", ".#home.toml", ".toml", "notes.txt"]);
        std::fs::create_dir(places.sites_dir().join("dir.toml")).unwrap();
        let names: Vec<_> = places.sites().unwrap().into_iter().map(|site| site.name).collect();
        assert_eq!(names, ["home", "mobile"]);
    }

    #[test]
    fn the_only_site_is_the_default() {
        let (_dir, places) = places(&["mobile.toml"]);
        assert_eq!(places.choose(None, None).unwrap(), places.sites_dir().join("mobile.toml"));
    }

    #[test]
    fn names_paths_and_the_default() {
        let (_dir, places) = places(&["mobile.toml", "home.toml"]);
        let home = places.sites_dir().join("home.toml");
        assert_eq!(places.choose(Some("home"), Some("mobile")).unwrap(), home);
        assert_eq!(places.choose(None, Some("home")).unwrap(), home);
        assert_eq!(places.choose(home.to_str(), None).unwrap(), home);
    }

    #[test]
    fn a_choice_that_fails_names_the_sites() {
        let (dir, places) = places(&["mobile.toml", "home.toml"]);
        let told = |wanted, default| {
            let error = places.choose(wanted, default).unwrap_err();
            format!("{error}\n{}", error.help()).replace(dir.path().to_str().unwrap(), "DIR")
        };
        let sites = "DIR/config/deevnet-console/sites";
        assert_eq!(
            told(None, None),
            "there are several sites: home, mobile\nchoose one with --site NAME, or set default_site in config.toml"
        );
        assert_eq!(
            told(Some("mobil"), None),
            format!("there is no site `mobil` in {sites}\ndid you mean `mobile`? Sites here: home, mobile")
        );
        assert_eq!(
            told(None, Some("lab")),
            format!(
                "there is no site `lab` in {sites}\ndefault_site in config.toml names it; sites here: home, mobile"
            )
        );
        assert!(told(Some("../sites/home"), None).starts_with("there is no site file ../sites/home\n"));
    }

    #[test]
    fn no_site_at_all_is_said_with_the_way_to_one() {
        let (_dir, places) = places(&[]);
        for wanted in [None, Some("mobile")] {
            assert!(places.choose(wanted, None).unwrap_err().help().contains("docs/configuration.md"));
        }
    }
}
