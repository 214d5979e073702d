//! The profile for `sandbox-exec`, on macOS. The last rule that fits counts there.

use super::confines::Confines;
use std::path::{Path, PathBuf};

#[cfg(target_os = "macos")]
pub const PROGRAM: &str = "/usr/bin/sandbox-exec";

pub fn profile(confines: &Confines, network: bool) -> String {
    let places = |paths: &[PathBuf]| paths.iter().map(|path| place(path)).collect::<String>();
    let mut profile = String::from("(version 1)\n(allow default)\n(deny file-write*)\n");
    profile.push_str(&format!("(allow file-write*{})\n", places(&confines.writable)));
    profile.push_str("(allow file-write-data (literal \"/dev/null\") (literal \"/dev/zero\") (literal \"/dev/tty\") (literal \"/dev/ptmx\") (regex #\"^/dev/ttys[0-9]+$\"))\n");
    let kept: Vec<PathBuf> = confines.never.iter().chain(&confines.missing).cloned().collect();
    if !kept.is_empty() {
        profile.push_str(&format!("(deny file-write*{})\n", places(&kept)));
    }
    // Folders around them keep their names, or they would be met under others.
    for pin in confines.pins() {
        profile.push_str(&format!("(deny file-write-unlink (literal {}))\n", quoted(&pin)));
    }
    if !confines.services.is_empty() {
        profile.push_str(&format!("(deny network-outbound{})\n", places(&confines.services)));
    }
    if !network {
        profile.push_str("(deny network*)\n(allow network* (local ip \"localhost:*\"))\n(allow network-outbound (remote ip \"localhost:*\"))\n(allow network* (remote unix-socket))\n");
    }
    profile
}

fn place(path: &Path) -> String {
    format!(" (subpath {})", quoted(path))
}

fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_opens_first_and_closes_after() {
        let confines = Confines {
            writable: vec!["/Users/me/p".into(), "/private/tmp/a \"b\"".into()],
            never: vec!["/Users/me/p/.git/hooks".into()],
            missing: vec!["/Users/me/p/.backstitch".into()],
            ..Confines::default()
        };
        insta::assert_snapshot!(profile(&confines, false));
    }
}
