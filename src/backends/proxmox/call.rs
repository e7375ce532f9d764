//! A request being put together: its path, its query, and what it carries.

use std::borrow::Cow;

use reqwest::Method;
use zeroize::Zeroize;

use super::endpoints::Endpoint;
use super::error::Error;
use super::names::LockToken;
use crate::backends::http::{Access, Request, clean};
use crate::site::secret::Secret;

const TOKEN: &str = "lock-token";

/// What a change does to one option of an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Edit<T> {
    /// Nothing.
    #[default]
    Leave,
    /// Gives it this value.
    Set(T),
    /// Takes the option away, so that Proxmox's default holds.
    Remove,
}

impl<T> Edit<T> {
    pub(super) fn map<U>(self, with: impl FnOnce(T) -> U) -> Edit<U> {
        match self {
            Self::Leave => Edit::Leave,
            Self::Set(value) => Edit::Set(with(value)),
            Self::Remove => Edit::Remove,
        }
    }

    pub(super) const fn as_ref(&self) -> Edit<&T> {
        match self {
            Self::Leave => Edit::Leave,
            Self::Set(value) => Edit::Set(value),
            Self::Remove => Edit::Remove,
        }
    }
}

/// A request being put together. What it carries is wiped when it is dropped.
pub(super) struct Call<'a> {
    pub(super) endpoint: &'static Endpoint,
    ids: Vec<(&'static str, &'a str)>,
    pairs: Vec<(String, String)>,
    removed: Vec<String>,
}

impl<'a> Call<'a> {
    pub(super) fn new(endpoint: &'static Endpoint) -> Self {
        Self { endpoint, ids: Vec::new(), pairs: Vec::new(), removed: Vec::new() }
    }

    /// Fills the placeholder `{name}` of the path.
    pub(super) fn id(mut self, name: &'static str, value: &'a str) -> Self {
        self.ids.push((name, value));
        self
    }

    /// A parameter: in the query of a GET or DELETE, in the body of a POST or PUT that writes.
    pub(super) fn set(mut self, key: impl Into<Cow<'static, str>>, value: impl ToString) -> Self {
        let key = key.into();
        debug_assert!(self.declares(&key), "{key} is not declared for {}", self.endpoint.path);
        self.pairs.push((key.into_owned(), value.to_string()));
        self
    }

    pub(super) fn set_some(self, key: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.set(key, value),
            None => self,
        }
    }

    /// A truth value: Proxmox takes `0` and `1` only (facts/proxmox.md §2).
    pub(super) fn set_flag(self, key: &'static str, value: Option<bool>) -> Self {
        self.set_some(key, value.map(u8::from))
    }

    /// A list as comma text; an empty one is left out.
    pub(super) fn set_list<T: ToString>(self, key: &'static str, values: &[T]) -> Self {
        if values.is_empty() { self } else { self.set(key, list(values)) }
    }

    /// Sets an option, or adds it to `delete`.
    pub(super) fn edit(mut self, key: impl Into<Cow<'static, str>>, value: Edit<impl ToString>) -> Self {
        let key = key.into();
        match value {
            Edit::Leave => self,
            Edit::Set(value) => self.set(key, value),
            Edit::Remove => {
                debug_assert!(self.declares("delete") && self.declares(&key), "{key}: {}", self.endpoint.path);
                self.removed.push(key.into_owned());
                self
            }
        }
    }

    /// Under the SDN lock of `token`.
    pub(super) fn under(self, token: &LockToken) -> Self {
        self.set(TOKEN, token.expose())
    }

    /// The token of the SDN lock that it carries.
    pub(super) fn token(&self) -> Option<Secret> {
        self.pairs.iter().find(|(key, _)| key == TOKEN).map(|(_, token)| Secret::new(token.clone()))
    }

    /// What goes into the body; `None` where parameters go into the query. A DELETE must not have a body
    /// (facts/proxmox.md §1).
    pub(super) fn form(&self) -> Option<&[(String, String)]> {
        let body = self.endpoint.access == Access::Write && matches!(self.endpoint.method, "POST" | "PUT");
        body.then_some(self.pairs.as_slice())
    }

    /// Method, path and query. What is left to tell of removed options becomes a parameter here.
    pub(super) fn request(&mut self) -> Result<Request, Error> {
        if !self.removed.is_empty() {
            let names = std::mem::take(&mut self.removed).join(",");
            self.pairs.push(("delete".to_owned(), names));
        }
        let mut path = vec!["api2".to_owned(), "json".to_owned()];
        for segment in self.endpoint.path.split('/').filter(|s| !s.is_empty()) {
            path.push(match segment.strip_prefix('{').and_then(|s| s.strip_suffix('}')) {
                Some(name) => self.id_for(name)?.to_owned(),
                None => segment.to_owned(),
            });
        }
        let method = match self.endpoint.method {
            "POST" => Method::POST,
            "PUT" => Method::PUT,
            "DELETE" => Method::DELETE,
            _ => Method::GET,
        };
        let query = if self.form().is_some() { Vec::new() } else { self.pairs.clone() };
        Ok(Request { method, access: self.endpoint.access, path, query })
    }

    /// The id for placeholder `name`, if it cannot lead to another path.
    fn id_for(&self, name: &'static str) -> Result<&'a str, Error> {
        let value = self.ids.iter().find(|(n, _)| *n == name).map_or("", |(_, v)| *v);
        let sound = !value.is_empty()
            && !matches!(value, "." | "..")
            && !value.contains(|c: char| c == '/' || c == '\\' || c.is_control());
        if sound { Ok(value) } else { Err(Error::BadId { what: name, value: clean(value) }) }
    }

    /// Whether the endpoint's table has `key`; `net0` counts as `net[n]`.
    fn declares(&self, key: &str) -> bool {
        let numbered = format!("{}[n]", key.trim_end_matches(|c: char| c.is_ascii_digit()));
        self.endpoint.parameters.iter().any(|p| *p == key || *p == numbered)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.pairs.iter_mut().for_each(|(_, value)| value.zeroize());
    }
}

/// A list as Proxmox takes it.
pub(super) fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::super::endpoints;
    use super::*;

    #[test]
    fn ids_cannot_leave_their_place() {
        for bad in ["", ".", "..", "a/b", "a\\b", "a\nb"] {
            let mut call = Call::new(&endpoints::NODE_STATUS).id("node", bad);
            assert!(matches!(call.request(), Err(Error::BadId { what: "node", .. })), "{bad:?}");
        }
        let request = Call::new(&endpoints::NODE_STATUS).id("node", "pve1").request().unwrap();
        assert_eq!(request.path, ["api2", "json", "nodes", "pve1", "status"]);
    }

    #[test]
    fn what_writes_has_a_body_and_a_delete_has_none() {
        let token: LockToken = "01a2283f".parse().unwrap();
        let mut put = Call::new(&endpoints::VNET_UPDATE).id("vnet", "tdemo0").under(&token);
        put = put.edit("tag", Edit::Set(20010)).edit("alias", Edit::<u8>::Remove);
        let request = put.request().unwrap();
        assert_eq!((request.method, request.query.len()), (Method::PUT, 0));
        let pairs: Vec<_> = put.form().unwrap().iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(pairs, ["lock-token=01a2283f", "tag=20010", "delete=alias"]);
        let mut delete = Call::new(&endpoints::VNET_DELETE).id("vnet", "tdemo0").under(&token);
        let request = delete.request().unwrap();
        assert_eq!((request.method, request.query.len()), (Method::DELETE, 1));
        assert!(delete.form().is_none() && delete.token().is_some());
    }
}
