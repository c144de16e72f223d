//! Codes about files as a whole.

codes! {
    /// The file holds no document.
    ///
    /// The file is empty, or has only comments or markers.
    /// A document is a map; the shortest loop has `name` and `prompt`.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// # to be written
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: Sort the tickets. }
    /// ```
    EMPTY_FILE = "empty-file", Error;

    /// The file is not UTF-8 text.
    ///
    /// Documents are read as UTF-8, with or without a byte order mark.
    /// Save the file as UTF-8; in PowerShell, write with `Out-File -Encoding utf8`.
    ENCODING = "encoding", Error, tested_by "files_that_cannot_be_read_say_why_and_the_others_are_read";

    /// A file does not exist.
    ///
    /// The file was not found in the workspace, beside the document, or among the shipped files.
    /// Paths are relative to the workspace.
    ///
    /// ## Bad
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: { file: prompts/triage.md.j2 } }
    /// ```
    ///
    /// ## Good
    ///
    /// ```yaml
    /// name: triage
    /// prompt: { instruction: { file: prompts/triage.md.j2 } }
    /// ```
    ///
    /// ```jinja prompts/triage.md.j2
    /// Sort the tickets.
    /// ```
    FILE_MISSING = "file-missing", Error;

    /// The file is larger than a document may be.
    ///
    /// A document may have at most 1 MiB.
    /// Put long texts into files of their own and refer to them.
    FILE_TOO_LARGE = "file-too-large", Error, tested_by "files_that_cannot_be_read_say_why_and_the_others_are_read";

    /// A file or folder cannot be read.
    ///
    /// The operating system refused to read it.
    /// The message has its words.
    FILE_UNREADABLE = "file-unreadable", Error, tested_by "files_that_cannot_be_read_say_why_and_the_others_are_read";

    /// A symbolic link leads back to a folder around it.
    ///
    /// Folders of documents are searched with everything below them.
    /// A link to a folder above would make that endless; remove the link.
    FOLDER_CYCLE = "folder-cycle", Error, tested_by "links_that_lead_in_a_circle_are_reported_and_others_followed";
}
