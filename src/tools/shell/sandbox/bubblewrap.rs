//! `bwrap` in front of a command, where we may not make a view of our own and it may.

use super::confines::Confines;
use std::{ffi::OsString, path::Path};

/// Its arguments, up to and without the command.
/// `filter`: the descriptor that the system calls that it is to refuse are read from.
pub fn arguments(confines: &Confines, network: bool, filter: i32, folder: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["--ro-bind", "/", "/", "--dev", "/dev", "--die-with-parent"].map(OsString::from).into();
    let mut add = |words: &[&str], paths: &[&Path]| {
        args.extend(words.iter().map(OsString::from));
        args.extend(paths.iter().map(OsString::from));
    };
    if !network {
        add(&["--unshare-net"], &[]);
    }
    for path in &confines.writable {
        add(&["--bind"], &[path, path]);
    }
    for path in &confines.pins() {
        add(&["--bind"], &[path, path]);
    }
    for path in &confines.never {
        add(&["--ro-bind"], &[path, path]);
    }
    for path in &confines.services {
        if path.is_dir() { add(&["--tmpfs"], &[path]) } else { add(&["--ro-bind"], &[Path::new("/dev/null"), path]) }
    }
    add(&["--seccomp", &filter.to_string()], &[]);
    add(&["--chdir"], &[folder]);
    add(&["--"], &[]);
    args
}
