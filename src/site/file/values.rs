//! From a TOML value to what a key has to be.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::path::{Path, PathBuf};

use ipnet::Ipv4Net;
use toml::Spanned;
use toml::de::DeValue;

use super::keys::Kind;
use super::report::Problem;
use crate::site::model::{SecretSource, Transport};
use crate::site::text::nearest;

/// Port of a DNS server that names none.
pub(crate) const DNS_PORT: u16 = 53;

/// Where relative paths start from.
pub(crate) struct Base {
    /// The file's directory.
    pub dir: PathBuf,
    /// The home directory, if there is one.
    pub home: Option<PathBuf>,
}

/// Origin of an HTTP service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// `scheme://host[:port]`.
    pub text: String,
    /// Whether the scheme is `https`.
    pub tls: bool,
    /// Whether the host is this machine.
    pub loopback: bool,
}

/// Alias, where it stands, and the name it stands for.
pub(crate) type Aliases = BTreeMap<String, (Range<usize>, String)>;

/// A value that is what its key asks for.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Bool(bool),
    Words(Vec<String>),
    Aliases(Aliases),
    Network(Ipv4Net),
    Networks(Vec<Ipv4Net>),
    Ipv4(Ipv4Addr),
    Ip(IpAddr),
    DnsServer(SocketAddr),
    Url(Origin),
    Path(PathBuf),
    Fingerprint([u8; 32]),
    Secret(SecretSource),
    Transport(Transport),
}

type Node<'i> = Spanned<DeValue<'i>>;

/// Checks `node` against `kind`.
pub(crate) fn convert(kind: Kind, node: &Node<'_>, base: &Base) -> Result<Value, Problem> {
    match kind {
        Kind::Word => word(node, kind).map(Value::Text),
        Kind::SiteName => site_name(node).map(Value::Text),
        Kind::Domain => domain(node).map(Value::Text),
        Kind::Version(known) => version(node, known).map(Value::Integer),
        Kind::Integer(min, max) => integer(node, min, max).map(Value::Integer),
        Kind::Bool => node.get_ref().as_bool().map(Value::Bool).ok_or_else(|| mismatch(node, kind)),
        Kind::Words => list(node, kind, |item| word(item, Kind::Word)).map(Value::Words),
        Kind::Aliases => aliases(node).map(Value::Aliases),
        Kind::Network => parse(node, kind).map(Value::Network),
        Kind::Networks => list(node, kind, |item| parse(item, Kind::Network)).map(Value::Networks),
        Kind::Ipv4 => parse(node, kind).map(Value::Ipv4),
        Kind::Ip => parse(node, kind).map(Value::Ip),
        Kind::DnsServer => dns_server(node).map(Value::DnsServer),
        Kind::Url => url(node).map(Value::Url),
        Kind::Path => path(node, base).map(Value::Path),
        Kind::Fingerprint => fingerprint(node).map(Value::Fingerprint),
        Kind::Secret => secret(node, base).map(Value::Secret),
        Kind::Transport => transport(node).map(Value::Transport),
        Kind::Command => command(node).map(Value::Words),
        Kind::Choice(words) => choice(node, words).map(Value::Text),
    }
}

fn mismatch(node: &Node<'_>, kind: Kind) -> Problem {
    let found = match node.get_ref() {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    Problem::new(format!("expected {}, found {found}", kind.describe())).at(node.span())
}

fn wrong(node: &Node<'_>, message: impl Into<String>, help: &str) -> Problem {
    Problem::new(message).at(node.span()).help(help)
}

fn text<'n>(node: &'n Node<'_>, kind: Kind) -> Result<&'n str, Problem> {
    let text = node.get_ref().as_str().ok_or_else(|| mismatch(node, kind))?;
    if text.is_empty() {
        return Err(wrong(node, "the value is empty", &format!("give {}", kind.describe())));
    }
    if text.chars().any(char::is_control) {
        return Err(wrong(node, "the value holds a control character", "write it on one line, without escapes"));
    }
    Ok(text)
}

fn word(node: &Node<'_>, kind: Kind) -> Result<String, Problem> {
    let text = text(node, kind)?;
    if text.contains(char::is_whitespace) {
        return Err(wrong(node, "the value holds a space", &format!("give {}", kind.describe())));
    }
    if text.starts_with('-') {
        return Err(wrong(node, "the value starts with a dash", "a program would take it for an option"));
    }
    Ok(text.to_owned())
}

fn site_name(node: &Node<'_>) -> Result<String, Problem> {
    let text = text(node, Kind::SiteName)?;
    let fits = text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !fits || !text.starts_with(|c: char| c.is_ascii_lowercase()) || text.len() > 32 {
        let help = "use up to 32 lower-case letters, digits and dashes, a letter first";
        return Err(wrong(node, "this is not a site name", help));
    }
    Ok(text.to_owned())
}

fn domain(node: &Node<'_>) -> Result<String, Problem> {
    let text = text(node, Kind::Domain)?;
    if text.ends_with('.') {
        return Err(wrong(
            node,
            "the name ends with a dot",
            "leave the trailing dot out: names here are always absolute",
        ));
    }
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    if text.len() > 253 || !text.split('.').all(label) {
        return Err(wrong(node, "this is not a DNS name", "use labels of lower-case letters, digits and dashes"));
    }
    Ok(text.to_owned())
}

fn integer(node: &Node<'_>, min: i64, max: i64) -> Result<i64, Problem> {
    let kind = Kind::Integer(min, max);
    let digits = node.get_ref().as_integer().ok_or_else(|| {
        let problem = mismatch(node, kind);
        if node.get_ref().is_str() { problem.help("write the number without quotes") } else { problem }
    })?;
    i64::from_str_radix(digits.as_str(), digits.radix()).ok().filter(|value| (min..=max).contains(value)).ok_or_else(
        || Problem::new(format!("the number is out of range: expected {}", kind.describe())).at(node.span()),
    )
}

fn version(node: &Node<'_>, known: i64) -> Result<i64, Problem> {
    integer(node, known, known).map_err(|problem| {
        let help = format!("write `version = {known}`, or use a newer deevnet-console");
        if node.get_ref().is_integer() {
            wrong(node, format!("this program reads version {known} of the format, no other"), &help)
        } else {
            problem
        }
    })
}

fn parse<T: std::str::FromStr>(node: &Node<'_>, kind: Kind) -> Result<T, Problem> {
    let text = text(node, kind)?;
    text.parse().map_err(|_| Problem::new(format!("this is not {}", kind.describe())).at(node.span()))
}

fn list<T>(node: &Node<'_>, kind: Kind, item: impl Fn(&Node<'_>) -> Result<T, Problem>) -> Result<Vec<T>, Problem> {
    node.get_ref().as_array().ok_or_else(|| mismatch(node, kind))?.iter().map(item).collect()
}

fn aliases(node: &Node<'_>) -> Result<Aliases, Problem> {
    let table = node.get_ref().as_table().ok_or_else(|| mismatch(node, Kind::Aliases))?;
    let mut aliases = BTreeMap::new();
    for (alias, name) in table {
        let name = word(name, Kind::Word)?;
        if alias.get_ref().is_empty() || alias.get_ref().contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(Problem::new("this alias is not a name without spaces").at(alias.span()));
        }
        aliases.insert(alias.get_ref().to_string(), (alias.span(), name));
    }
    Ok(aliases)
}

fn dns_server(node: &Node<'_>) -> Result<SocketAddr, Problem> {
    let text = text(node, Kind::DnsServer)?;
    text.parse::<SocketAddr>().or_else(|_| text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, DNS_PORT))).map_err(
        |_| {
            wrong(
                node,
                "this is not an IP address with an optional port",
                "e.g. \"10.20.25.21:53\" or \"[2001:db8::53]:53\"",
            )
        },
    )
}

fn url(node: &Node<'_>) -> Result<Origin, Problem> {
    let bad = |what: &str| wrong(node, what, "give scheme, host and port only, e.g. \"https://10.20.99.22:8006\"");
    let url = reqwest::Url::parse(text(node, Kind::Url)?).map_err(|_| bad("this is not a URL"))?;
    let tls = match url.scheme() {
        "https" => true,
        "http" => false,
        _ => return Err(bad("only http:// and https:// can be spoken")),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(node, "the URL holds credentials", "credentials have keys of their own, outside of the URL"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(bad("the URL goes beyond the origin"));
    }
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| bad("the URL has no host"))?;
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let loopback = address.map_or(host == "localhost", |address| address.is_loopback());
    Ok(Origin { text: url.origin().ascii_serialization(), tls, loopback })
}

fn path(node: &Node<'_>, base: &Base) -> Result<PathBuf, Problem> {
    let text = text(node, Kind::Path)?;
    if let Some(rest) = text.strip_prefix("~/") {
        let home = base.home.as_ref();
        return home.map(|home| home.join(rest)).ok_or_else(|| {
            wrong(node, "`~/` cannot be resolved: HOME is not set", "set HOME, or give an absolute path")
        });
    }
    if text.starts_with('~') {
        return Err(wrong(
            node,
            "`~` is only understood as `~/`",
            "give an absolute path, or one that starts with `~/`",
        ));
    }
    Ok(base.dir.join(Path::new(text)))
}

fn fingerprint(node: &Node<'_>) -> Result<[u8; 32], Problem> {
    let text = text(node, Kind::Fingerprint)?;
    let help = "openssl x509 -in CERT -noout -fingerprint -sha256 prints it";
    let digits: String = if text.contains(':') {
        let pairs: Vec<_> = text.split(':').collect();
        if pairs.iter().any(|pair| pair.len() != 2) {
            return Err(wrong(node, "a fingerprint is pairs of hexadecimal digits with colons between them", help));
        }
        pairs.concat()
    } else {
        text.to_owned()
    };
    if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
        return Err(wrong(node, "a fingerprint has hexadecimal digits and colons only", help));
    }
    match digits.len() {
        64 => {}
        40 => {
            return Err(wrong(
                node,
                "this is a SHA-1 fingerprint, which no longer proves anything; SHA-256 is needed",
                help,
            ));
        }
        n => return Err(wrong(node, format!("a SHA-256 fingerprint has 64 hexadecimal digits, this has {n}"), help)),
    }
    let mut bytes = [0; 32];
    for (byte, start) in bytes.iter_mut().zip((0..64).step_by(2)) {
        let pair = digits.get(start..start + 2).unwrap_or_default();
        *byte = u8::from_str_radix(pair, 16).map_err(|_| mismatch(node, Kind::Fingerprint))?;
    }
    Ok(bytes)
}

fn choice(node: &Node<'_>, words: &[&str]) -> Result<String, Problem> {
    let found = node.get_ref().as_str().unwrap_or_default();
    if words.contains(&found) {
        return Ok(found.to_owned());
    }
    let one_of = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ");
    let problem = Problem::new(format!("expected {one_of}")).at(node.span());
    Err(match nearest(found, words.iter().copied()) {
        Some(word) => problem.help(format!("did you mean \"{word}\"?")),
        None => problem,
    })
}

fn command(node: &Node<'_>) -> Result<Vec<String>, Problem> {
    let help =
        "give the program and its arguments as a list, e.g. [\"pass\", \"show\", \"name\"]; no shell is involved";
    if node.get_ref().is_str() {
        return Err(mismatch(node, Kind::Command).help(help));
    }
    let argv = list(node, Kind::Command, |item| {
        let argument = item.get_ref().as_str().ok_or_else(|| mismatch(item, Kind::Word))?;
        if argument.contains('\0') {
            Err(wrong(item, "an argument cannot hold a NUL", help))
        } else {
            Ok(argument.to_owned())
        }
    })?;
    if argv.first().is_none_or(String::is_empty) {
        return Err(wrong(node, "the command names no program", help));
    }
    Ok(argv)
}

/// The one entry of a table that has to hold exactly one of `known`.
fn one_of<'t, 'i>(node: &'t Node<'i>, known: &[&str], help: &str) -> Result<(&'t str, &'t Node<'i>), Problem> {
    let expected = || known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ");
    let Some(table) = node.get_ref().as_table() else {
        return Err(wrong(node, format!("expected a table with {}", expected()), help));
    };
    if let Some(unknown) = table.keys().find(|name| !known.contains(&name.get_ref().as_ref())) {
        let near = nearest(unknown.get_ref(), known.iter().copied());
        let message = format!("unknown key `{}`: expected {}", super::text_of(unknown.get_ref()), expected());
        return Err(Problem::new(message)
            .at(unknown.span())
            .help(near.map_or_else(|| help.to_owned(), super::did_you_mean)));
    }
    let mut entries = table.iter();
    match (entries.next(), entries.next()) {
        (Some((name, value)), None) => Ok((name.get_ref().as_ref(), value)),
        (None, _) => Err(wrong(node, format!("the table is empty: expected {}", expected()), help)),
        (Some(_), Some(_)) => Err(wrong(node, format!("exactly one of {} is possible", expected()), help)),
    }
}

fn secret(node: &Node<'_>, base: &Base) -> Result<SecretSource, Problem> {
    let help = "write { env = \"NAME\" }, { file = \"PATH\" } or { command = [\"PROGRAM\", \"ARGUMENT\"] }";
    if node.get_ref().is_str() {
        return Err(wrong(node, "a secret is never written into this file, only where it comes from", help));
    }
    match one_of(node, &["env", "file", "command"], help)? {
        ("env", name) => {
            let variable = word(name, Kind::Word)?;
            if variable.contains('=') {
                return Err(wrong(name, "the name of an environment variable has no `=`", help));
            }
            Ok(SecretSource::Env(variable))
        }
        ("file", file) => path(file, base).map(SecretSource::File),
        (_, argv) => command(argv).map(SecretSource::Command),
    }
}

fn transport(node: &Node<'_>) -> Result<Transport, Problem> {
    let help = "write { ssh = \"HOST\" } or { command = [\"PROGRAM\", \"ARGUMENT\"] }";
    match one_of(node, &["ssh", "command"], help)? {
        ("ssh", host) => word(host, Kind::Word).map(Transport::Ssh),
        (_, argv) => command(argv).map(Transport::Command),
    }
}

/// The ranges of every scalar in or below `node`, for hiding.
pub(crate) fn scalars(node: &Node<'_>, into: &mut Vec<Range<usize>>) {
    match node.get_ref() {
        DeValue::Table(table) => table.values().for_each(|node| scalars(node, into)),
        DeValue::Array(items) => items.iter().for_each(|item| scalars(item, into)),
        _ => into.push(node.span()),
    }
}
