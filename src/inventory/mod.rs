//! The joined, immutable picture of a site, and the workers that keep it fresh.
