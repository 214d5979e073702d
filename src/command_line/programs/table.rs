//! Programs that only read, with the options that keep it so. What is not here is not known to be safe.

/// What the words are that are no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operands {
    /// Files whose contents are read.
    Read,
    /// Files of which only names, sizes and dates are told.
    List,
    /// Text, whatever it is.
    Text,
    /// Numbers, formats and the like, which must be known.
    Words,
    /// At the most one file: a second one would be written.
    ReadOne,
    /// A pattern, unless an option has it, then files whose contents are read.
    Search,
    Nothing,
}

#[derive(Debug)]
pub struct Program {
    pub name: &'static str,
    /// Letters; one with `:` takes a value, one with `@` the path of a file to read. `#`: a number alone, as in `-5`.
    pub short: &'static str,
    /// Names; one with `=` takes a value, one with `=?` may, one with `=@` takes the path of a file to read.
    pub long: &'static str,
    pub operands: Operands,
    /// Without a file it reads what is in the folder.
    pub folder: bool,
}

const fn program(name: &'static str, operands: Operands, short: &'static str, long: &'static str) -> Program {
    Program { name, short, long, operands, folder: false }
}

const fn folder(name: &'static str, operands: Operands, short: &'static str, long: &'static str) -> Program {
    Program { name, short, long, operands, folder: true }
}

use Operands::*;

const SUMS: &str = "binary text tag zero";
const GREP_SHORT: &str = "e:EFGPiyvwxcloqshHnZbTaUzA:B:C:m:rI#";
const GREP_LONG: &str = "regexp= extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp \
    line-regexp count color=? colour=? files-without-match files-with-matches max-count= only-matching quiet silent no-messages byte-offset \
    with-filename no-filename line-number initial-tab null after-context= before-context= context= text include= exclude= exclude-dir= \
    recursive null-data binary-files= line-buffered";

pub const PROGRAMS: &[Program] = &[
    // Files by name.
    folder(
        "ls",
        List,
        "aAbBcCdfFghGiklmnNopqQrRsStuUvxX1Z",
        "all almost-all author escape block-size= ignore-backups directory classify=? file-type format= full-time group-directories-first \
         no-group human-readable si hide= indicator-style= inode ignore= kibibytes numeric-uid-gid literal quote-name quoting-style= reverse \
         recursive size sort= time= time-style= width= context zero color=? hyperlink=?",
    ),
    program("stat", List, "fc:tx", "file-system format= printf= terse"),
    folder(
        "du",
        List,
        "abcd:hHkmPsSx0B:t:",
        "all apparent-size bytes total max-depth= human-readable si summarize separate-dirs one-file-system null threshold= time=? time-style= exclude= block-size=",
    ),
    program(
        "df",
        List,
        "aB:hHiklmPTt:x:",
        "all block-size= total human-readable si inodes local portability print-type type= exclude-type= output=?",
    ),
    folder(
        "tree",
        List,
        "adfixsphugDFL:P:I:rtcUvnCAS",
        "gitignore noreport dirsfirst filelimit= matchdirs prune du si timefmt= sort= charset= inodes device",
    ),
    program("basename", Words, "as:z", "multiple suffix= zero"),
    program("dirname", Words, "z", "zero"),
    program(
        "realpath",
        List,
        "eLmPsqz",
        "canonicalize-existing canonicalize-missing logical physical no-symlinks quiet strip zero relative-to= relative-base=",
    ),
    program("readlink", List, "femnqsvz", "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero"),
    program("file", Read, "biLkNnrs0hE", "brief mime mime-type mime-encoding keep-going no-dereference dereference print0 extension"),
    // Their contents.
    program("cat", Read, "AbeEnstTuv", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"),
    program("tac", Read, "brs:", "before regex separator="),
    program("head", Read, "c:n:qvz#", "bytes= lines= quiet silent verbose zero-terminated"),
    program("tail", Read, "c:n:qvz#", "bytes= lines= quiet silent verbose zero-terminated"),
    program("wc", Read, "cmlLw", "bytes chars lines max-line-length words total="),
    program(
        "nl",
        Read,
        "b:d:f:h:i:l:n:ps:v:w:",
        "body-numbering= header-numbering= footer-numbering= line-increment= number-format= number-separator= starting-line-number= number-width=",
    ),
    program("rev", Read, "", ""),
    program("fold", Read, "bsw:", "bytes spaces width="),
    program("expand", Read, "it:", "initial tabs="),
    program(
        "cut",
        Read,
        "b:c:d:f:nsz",
        "bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated",
    ),
    program("paste", Read, "d:sz", "delimiters= serial zero-terminated"),
    program("comm", Read, "123z", "check-order nocheck-order output-delimiter= total zero-terminated"),
    program("join", Read, "1:2:a:e:ij:o:t:v:z", "ignore-case header zero-terminated"),
    program("column", Read, "tc:s:N:o:R:H:xeL", "table columns= separator= table-columns= output-separator= fillrows"),
    program(
        "uniq",
        ReadOne,
        "cdDf:is:uw:z",
        "count repeated all-repeated=? skip-fields= ignore-case skip-chars= unique check-chars= zero-terminated group=?",
    ),
    program(
        "sort",
        Read,
        "bcCdfghik:mMnrRsS:t:uVz",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort reverse sort= version-sort check=? key= merge stable buffer-size= field-separator= parallel= unique zero-terminated",
    ),
    program("cmp", Read, "bi:ln:s", "print-bytes ignore-initial= verbose bytes= quiet silent"),
    program(
        "diff",
        Read,
        "abBcdeEiI:L:nNpqstTuU:wW:yZC:F:",
        "normal brief report-identical-files context=? unified=? ed rcs side-by-side width= left-column suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab new-file ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= text strip-trailing-cr minimal speed-large-files color=?",
    ),
    program("od", Read, "A:abcdfhij:lN:osS:t:vwx", "address-radix= skip-bytes= read-bytes= format= output-duplicates width=? strings=?"),
    program("xxd", ReadOne, "abc:eEg:il:pu", ""),
    program(
        "hexdump",
        Read,
        "bcCdn:os:vxe:",
        "canonical one-byte-octal one-byte-char two-bytes-decimal two-bytes-octal two-bytes-hex length= skip= no-squeezing",
    ),
    program("strings", Read, "an:ot:e:fw#", "all bytes= radix= encoding= print-file-name"),
    program("md5sum", Read, "btz", SUMS),
    program("sha1sum", Read, "btz", SUMS),
    program("sha224sum", Read, "btz", SUMS),
    program("sha256sum", Read, "btz", SUMS),
    program("sha384sum", Read, "btz", SUMS),
    program("sha512sum", Read, "btz", SUMS),
    program("b2sum", Read, "btzl:", SUMS),
    program("cksum", Read, "", ""),
    program("base64", Read, "dw:", "decode ignore-garbage wrap="),
    program("shasum", Read, "a:btU0", "algorithm= binary text"),
    program("tr", Words, "cCdst", "complement delete squeeze-repeats truncate-set1"),
    // Their contents, searched.
    program("grep", Search, GREP_SHORT, GREP_LONG),
    program("egrep", Search, GREP_SHORT, GREP_LONG),
    program("fgrep", Search, GREP_SHORT, GREP_LONG),
    folder(
        "rg",
        Search,
        "e:iSsvwxclnNoqHhIFUPpVA:B:C:m:t:T:g:M:d:j:0ar:",
        "regexp= ignore-case smart-case case-sensitive invert-match word-regexp line-regexp count count-matches files-with-matches \
         files-without-match line-number no-line-number only-matching quiet with-filename no-filename fixed-strings multiline \
         multiline-dotall pcre2 auto-hybrid-regex pretty after-context= before-context= context= max-count= type= type-not= glob= iglob= \
         max-columns= max-columns-preview max-depth= maxdepth= threads= null text replace= color= colors= heading no-heading column \
         no-column sort= sortr= stats trim vimgrep json passthru no-messages no-config type-list byte-offset max-filesize= \
         context-separator= field-match-separator= crlf no-ignore-case files",
    ),
    // Nothing at all.
    program("echo", Text, "neE", ""),
    program("true", Text, "", ""),
    program(":", Text, "", ""),
    program("false", Text, "", ""),
    program("pwd", Nothing, "LP", ""),
    program("seq", Words, "f:s:w#", "format= separator= equal-width"),
    program("which", Words, "as", "all"),
    program("type", Words, "afptP", ""),
    program(
        "uname",
        Nothing,
        "asnrvmpio",
        "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system",
    ),
    program("whoami", Nothing, "", ""),
    program("id", Words, "agGnruz", "group groups name real user zero"),
    program("groups", Words, "", ""),
    program("nproc", Nothing, "", "all ignore="),
    program("arch", Nothing, "", ""),
    program("hostname", Nothing, "", ""),
    program("uptime", Nothing, "ps", "pretty since"),
    program("tty", Nothing, "s", "silent quiet"),
    program("free", Nothing, "bkmghtlvw", "bytes kilo mega giga human lohi total wide si"),
    program("exit", Words, "", ""),
    program("return", Words, "", ""),
    program("break", Words, "", ""),
    program("continue", Words, "", ""),
    program("shift", Words, "", ""),
    program("wait", Nothing, "", ""),
];

/// Programs whose `--version` and the like do nothing else. Interpreters say them before they look at anything of the project's.
pub const VERSIONED: &[&str] = &[
    "cargo", "rustc", "rustup", "rustfmt", "git", "gcc", "g++", "clang", "cc", "make", "cmake", "ninja", "python", "python3", "pip",
    "pip3", "node", "npm", "deno", "bun", "java", "javac", "ruby", "perl", "php", "docker", "kubectl", "bash", "rg", "fd", "jq", "curl",
    "wget", "tar", "sqlite3", "psql", "tsc", "uv", "gh", "ld", "gdb", "ls", "grep", "sed", "awk",
];
