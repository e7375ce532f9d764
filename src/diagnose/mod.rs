//! Diagnosis: facts are collected from every place that can say something, then judged by pure functions.

pub mod access;
pub mod resolve;
