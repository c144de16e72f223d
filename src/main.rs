//! The `loopwright` binary: hands its arguments to the library's command line.

fn main() -> std::process::ExitCode {
    loopwright::command_line()
}
