//! Entry point of the console and its headless verbs.

fn main() -> std::process::ExitCode {
    deevnet_console::cli::main()
}
