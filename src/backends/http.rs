//! HTTP as the back ends need it: trust (CA file, pinned certificate, system store), limits, typed errors.
