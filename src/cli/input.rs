//! Text that the command line is given: in place, from a file (`@FILE`), or from standard input (`-`).

use std::io::Read;
use std::path::Path;

use super::error::CliError;

/// The most that is read: more is surely a mistake, and would not fit a model either.
const MOST: u64 = 64 << 20;

/// A text and the name of the file that it came from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) text: String,
    pub(super) file: Option<String>,
}

impl Input {
    /// Reads `TEXT`, `@FILE` or `-`. A text that begins with `@` is written `@@…`.
    pub(super) fn read(argument: &str) -> Result<Self, CliError> {
        if argument == "-" {
            let text = decode(read_all(std::io::stdin().lock()), "standard input")?;
            return Ok(Self { text, file: None });
        }
        match argument.strip_prefix('@') {
            None => Ok(Self { text: argument.to_owned(), file: None }),
            Some(rest) if rest.starts_with('@') => Ok(Self { text: rest.to_owned(), file: None }),
            Some(path) => {
                let opened = std::fs::File::open(path).map_err(|error| unreadable(path, &error));
                let bytes = match opened? {
                    file if Path::new(path).is_dir() => {
                        drop(file);
                        return Err(CliError::usage(format!("Cannot read {path}: it is a folder")));
                    }
                    file => read_all(file),
                };
                Ok(Self { text: decode(bytes, path)?, file: Some(path.to_owned()) })
            }
        }
    }
}

/// All of standard input.
pub(super) fn stdin_bytes() -> Result<Vec<u8>, CliError> {
    read_all(std::io::stdin().lock()).map_err(|error| unreadable("standard input", &error))
}

fn read_all(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(std::io::Error::other(format!("it is longer than {} MiB", MOST >> 20)));
    }
    Ok(bytes)
}

fn unreadable(name: &str, error: &std::io::Error) -> CliError {
    let error = CliError::usage(format!("Cannot read {name}: {error}"));
    if name.starts_with('@') || Path::new(name).exists() {
        error
    } else {
        error.hint("`@FILE` reads a file; write `@@` for a text that begins with `@`")
    }
}

fn decode(bytes: std::io::Result<Vec<u8>>, name: &str) -> Result<String, CliError> {
    let bytes = bytes.map_err(|error| unreadable(name, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CliError::usage(format!("{name} is not UTF-8 text (byte {at} is not)"))
            .hint("convert it first, for example with: iconv -f LATIN1 -t UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_in_place_or_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.txt");
        std::fs::write(&path, "from a file\n").unwrap();
        let name = path.display().to_string();
        let read = |argument: &str| Input::read(argument).unwrap();
        assert_eq!(read("in place"), Input { text: "in place".into(), file: None });
        assert_eq!(read("@@home"), Input { text: "@home".into(), file: None });
        assert_eq!(read(&format!("@{name}")), Input { text: "from a file\n".into(), file: Some(name.clone()) });
        std::fs::write(&path, b"caf\xe9").unwrap();
        assert!(Input::read(&format!("@{name}")).unwrap_err().message.contains("byte 3"));
        let error = Input::read("@/no/such/file").unwrap_err();
        assert!(error.message.contains("/no/such/file") && error.exit_code() == 2);
        assert!(Input::read(&format!("@{}", folder.path().display())).unwrap_err().message.contains("folder"));
    }
}
