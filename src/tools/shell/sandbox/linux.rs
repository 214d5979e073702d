//! What keeps a command inside, on Linux: a view of the file system of its own, Landlock, and a filter of system calls.
//!
//! - Everything that allocates or looks is done before the fork; [`Cell::enter`] makes system calls and nothing else.
//! - The view comes first, since Landlock lets nobody change it any more.
//! - Landlock alone knows no exceptions inside of what is allowed: without a view of their own, commands are watched instead (`guard`).

use super::confines::Confines;
use landlock::{ABI, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope};
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule};
use std::{
    collections::BTreeMap,
    ffi::{CStr, CString},
    fs,
    io::{self, Seek, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

/// What this system can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Can {
    pub landlock: bool,
    pub view: View,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    No,
    /// In a user namespace of its own.
    Own,
    /// We may do it as we are; then files keep their owners' names.
    Privileged,
}

/// Written by everybody, and nothing is kept in them. The terminals are the command's own, where it has a view of its own.
const DEVICES: [&CStr; 7] = [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/random", c"/dev/urandom", c"/dev/tty", c"/dev/ptmx"];

pub struct Cell {
    ruleset: Option<OwnedFd>,
    view: View,
    network: bool,
    steps: Vec<Step>,
    folder: CString,
    maps: [Vec<u8>; 2],
    filter: BpfProgram,
}

enum Step {
    /// A mount of its own, so that it can be writable or not, and keeps its place.
    Bind(CString),
    AllReadOnly,
    Writable(CString),
    /// Only where there is one.
    Empty(CString),
    Silent(CString),
    Terminals,
}

impl Cell {
    /// `folder` is where the command starts.
    pub fn build(can: Can, confines: &Confines, network: bool, folder: &Path) -> io::Result<Cell> {
        let ruleset = if can.landlock { Some(ruleset(confines).map_err(io::Error::other)?) } else { None };
        let steps = if can.view == View::No { vec![] } else { steps(confines)? };
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Ok(Cell {
            ruleset,
            view: can.view,
            network,
            steps,
            folder: c_path(folder)?,
            maps: [format!("{uid} {uid} 1\n").into_bytes(), format!("{gid} {gid} 1\n").into_bytes()],
            filter: filter(network || can.view != View::No)?,
        })
    }

    /// Between fork and exec: there is no way back.
    pub fn enter(&self) -> io::Result<()> {
        if self.view != View::No {
            self.look()?;
        }
        if let Some(ruleset) = &self.ruleset {
            if self.view != View::No {
                allow_terminals(ruleset)?;
            }
            no_new_privileges()?;
            // SAFETY: a system call that takes a descriptor of ours and no pointer.
            check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) })?;
        }
        seccompiler::apply_filter(&self.filter).map_err(|_| io::Error::last_os_error())
    }

    fn look(&self) -> io::Result<()> {
        let mut flags = libc::CLONE_NEWNS;
        if self.view == View::Own {
            flags |= libc::CLONE_NEWUSER;
        }
        if !self.network {
            flags |= libc::CLONE_NEWNET;
        }
        // SAFETY: takes no pointer; between fork and exec there is but one thread.
        check(unsafe { libc::unshare(flags) }.into())?;
        if self.view == View::Own {
            write(c"/proc/self/setgroups", b"deny")?;
            write(c"/proc/self/uid_map", &self.maps[0])?;
            write(c"/proc/self/gid_map", &self.maps[1])?;
        }
        if !self.network {
            loopback_up();
        }
        mount(None, c"/", None, libc::MS_REC | libc::MS_SLAVE, None)?;
        for step in &self.steps {
            match step {
                Step::Bind(path) => mount(Some(path), path, None, libc::MS_BIND | libc::MS_REC, None)?,
                Step::AllReadOnly => read_only(c"/", true)?,
                Step::Writable(path) => read_only(path, false)?,
                Step::Empty(path) => {
                    mount(Some(c"tmpfs"), path, Some(c"tmpfs"), libc::MS_NOSUID | libc::MS_NODEV, Some(c"mode=0700,size=16m"))?
                }
                Step::Silent(path) => mount(Some(c"/dev/null"), path, None, libc::MS_BIND, None)?,
                Step::Terminals => {
                    mount(
                        Some(c"devpts"),
                        c"/dev/pts",
                        Some(c"devpts"),
                        libc::MS_NOSUID | libc::MS_NOEXEC,
                        Some(c"newinstance,ptmxmode=0666,mode=620"),
                    )?;
                    mount(Some(c"/dev/pts/ptmx"), c"/dev/ptmx", None, libc::MS_BIND, None)?;
                }
            }
        }
        // Where we stand is still what it was before: under its name there is another mount now.
        // SAFETY: the path is a string that ends in a NUL and lives as long as we.
        check(unsafe { libc::chdir(self.folder.as_ptr()) }.into())
    }
}

fn steps(confines: &Confines) -> io::Result<Vec<Step>> {
    let mounts = fs::read("/proc/self/mountinfo").map(|text| writable_mounts(&text)).unwrap_or_default();
    let mut steps = vec![];
    let pins = confines.pins();
    for path in confines.writable.iter().chain(&pins).chain(&confines.never) {
        steps.push(Step::Bind(c_path(path)?));
    }
    steps.push(Step::AllReadOnly);
    let within = mounts.iter().filter(|mount| confines.writable.iter().any(|top| mount.starts_with(top) && *mount != top));
    let kept = |path: &Path| confines.never.iter().any(|never| path.starts_with(never));
    for path in confines.writable.iter().chain(&pins).chain(within).filter(|path| !kept(path)) {
        steps.push(Step::Writable(c_path(path)?));
    }
    for path in &confines.services {
        steps.push(if path.is_dir() { Step::Empty(c_path(path)?) } else { Step::Silent(c_path(path)?) });
    }
    if Path::new("/dev/pts/ptmx").exists() && Path::new("/dev/ptmx").exists() {
        steps.push(Step::Terminals);
    }
    Ok(steps)
}

/// The places of all mounts that may be written.
fn writable_mounts(text: &[u8]) -> Vec<PathBuf> {
    let place = |line: &[u8]| {
        let mut fields = line.split(|b| *b == b' ').skip(4);
        let (path, options) = (fields.next()?, fields.next()?);
        let writable = options.split(|b| *b == b',').any(|option| option == b"rw");
        writable.then(|| PathBuf::from(<std::ffi::OsStr as OsStrExt>::from_bytes(&unescaped(path))))
    };
    text.split(|b| *b == b'\n').filter_map(place).collect()
}

/// `\040` is a blank there.
fn unescaped(path: &[u8]) -> Vec<u8> {
    let mut out = vec![];
    let mut rest = path;
    while let Some((first, after)) = rest.split_first() {
        let octal =
            after.get(..3).filter(|_| *first == b'\\').and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        out.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &after[3..] } else { after };
    }
    out
}

fn ruleset(confines: &Confines) -> Result<OwnedFd, String> {
    let told = |e: &dyn std::fmt::Display| e.to_string();
    let writes = AccessFs::from_write(ABI::V3);
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(writes).map_err(|e| told(&e))?;
    rules = rules.scope(Scope::AbstractUnixSocket).map_err(|e| told(&e))?;
    let mut created = rules.create().map_err(|e| told(&e))?;
    let devices = DEVICES.iter().filter_map(|path| path.to_str().ok()).map(Path::new);
    for path in confines.writable.iter().map(PathBuf::as_path).chain(devices) {
        // What has just gone needs no rule.
        let (Ok(fd), Ok(kind)) = (PathFd::new(path), fs::metadata(path)) else { continue };
        let access = if kind.is_dir() { writes } else { writes & AccessFs::from_file(ABI::V3) };
        created = created.add_rule(PathBeneath::new(fd, access)).map_err(|e| told(&e))?;
    }
    Option::<OwnedFd>::from(created).ok_or_else(|| "the kernel has no Landlock".into())
}

/// The terminals of its own have only just come to be, so this rule can't be made any earlier.
fn allow_terminals(ruleset: &OwnedFd) -> io::Result<()> {
    #[repr(C, packed)]
    struct Beneath {
        allowed: u64,
        parent: i32,
    }
    const WRITE_FILE: u64 = 1 << 1;
    const PATH_BENEATH: libc::c_int = 1;
    for path in [c"/dev/pts", c"/dev/ptmx"] {
        // SAFETY: a string that ends in a NUL.
        let parent = unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) };
        if parent < 0 {
            continue;
        }
        let rule = Beneath { allowed: WRITE_FILE, parent };
        // SAFETY: `rule` has the layout of the kernel's struct landlock_path_beneath_attr and lives through the call.
        let done = unsafe { libc::syscall(libc::SYS_landlock_add_rule, ruleset.as_raw_fd(), PATH_BENEATH, &raw const rule, 0) };
        // SAFETY: opened above.
        unsafe { libc::close(parent) };
        check(done)?;
    }
    Ok(())
}

/// What would undo the view, reach into the kernel, or write into somebody's terminal; and the network, if that is not to be.
fn filter(network: bool) -> io::Result<BpfProgram> {
    let always = |call: libc::c_long| (call, vec![]);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = [
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_move_mount,
        libc::SYS_open_tree,
        libc::SYS_fsopen,
        libc::SYS_fsmount,
        libc::SYS_fsconfig,
        libc::SYS_fspick,
        libc::SYS_mount_setattr,
        libc::SYS_open_by_handle_at,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_kexec_load,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_keyctl,
        libc::SYS_userfaultfd,
        // Its requests are not system calls, so no filter sees them.
        libc::SYS_io_uring_setup,
    ]
    .into_iter()
    .map(always)
    .collect();
    let equals = |n: u8, value: u64| SeccompCondition::new(n, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value);
    let other_than = |n: u8, value: u64| SeccompCondition::new(n, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value);
    let rule = |conditions: Vec<Result<SeccompCondition, _>>| conditions.into_iter().collect::<Result<_, _>>().and_then(SeccompRule::new);
    let mut extra = || -> Result<(), seccompiler::BackendError> {
        // Typing for the user into a terminal.
        rules.insert(libc::SYS_ioctl, vec![rule(vec![equals(1, libc::TIOCSTI)])?, rule(vec![equals(1, TIOCLINUX)])?]);
        if !network {
            let local = [libc::AF_UNIX, libc::AF_NETLINK].map(|family| other_than(0, family as u64));
            rules.insert(libc::SYS_socket, vec![rule(local.into())?]);
        }
        Ok(())
    };
    extra().map_err(io::Error::other)?;
    let arch = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}

/// `TIOCLINUX`, which the C library does not name: pastes into the console, among others.
const TIOCLINUX: u64 = 0x541C;

/// The filter as `bwrap` reads it.
pub fn filter_file() -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create(c"filter", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = fs::File::from(file);
    for step in filter(true)? {
        file.write_all(&step.code.to_ne_bytes())?;
        file.write_all(&[step.jt, step.jf])?;
        file.write_all(&step.k.to_ne_bytes())?;
    }
    file.rewind()?;
    Ok(file.into())
}

/// Between fork and exec: what is executed has it too.
pub fn pass_on(fd: &OwnedFd) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::empty())?)
}

pub fn landlock_version() -> i64 {
    const VERSION: u32 = 1;
    // SAFETY: asks for the version, with no attributes.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) }
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn no_new_privileges() -> io::Result<()> {
    // SAFETY: takes numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())
}

fn mount(from: Option<&CStr>, to: &CStr, kind: Option<&CStr>, flags: libc::c_ulong, data: Option<&CStr>) -> io::Result<()> {
    let pointer = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: strings that end in a NUL, or null where the call allows that.
    check(unsafe { libc::mount(pointer(from), to.as_ptr(), pointer(kind), flags, pointer(data).cast()) }.into())
}

/// A whole tree of mounts, or one of them writable again.
fn read_only(path: &CStr, yes: bool) -> io::Result<()> {
    const READ_ONLY: u64 = 1;
    let (set, clear) = if yes { (READ_ONLY, 0) } else { (0, READ_ONLY) };
    let attributes = [set, clear, 0, 0];
    let flags = if yes { libc::AT_RECURSIVE } else { 0 };
    let size = std::mem::size_of_val(&attributes);
    // SAFETY: `attributes` is the kernel's struct mount_attr (four u64) and lives through the call.
    check(unsafe { libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, path.as_ptr(), flags, attributes.as_ptr(), size) })
}

fn write(path: &CStr, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: a string that ends in a NUL; the descriptor is closed below.
    let fd = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) };
    check(fd.into())?;
    // SAFETY: the bytes are ours and as long as said.
    let written = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    let result = check(written as libc::c_long);
    // SAFETY: opened above.
    unsafe { libc::close(fd) };
    result
}

/// Servers of a test run on the machine itself. Without it there is no network at all, which is no reason to fail.
fn loopback_up() {
    // SAFETY: plain numbers; the request is the kernel's struct ifreq, zeroed but for name and flags; the descriptor is closed.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request);
        libc::close(socket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_their_odd_names() {
        let text =
            b"22 1 0:21 / /sys ro,nosuid - sysfs sysfs rw\n36 22 0:30 / /tmp/a\\040b rw,relatime shared:1 - tmpfs tmpfs rw\nbroken\n";
        assert_eq!(writable_mounts(text), [PathBuf::from("/tmp/a b")]);
        assert_eq!(unescaped(b"a\\134b\\"), b"a\\b\\");
    }
}
