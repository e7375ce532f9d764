//! The filter language.
