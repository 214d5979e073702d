//! What is a secret and what is not, there and back, and what it costs.

mod messages;

use super::*;

fn privacy() -> Privacy {
    Privacy::new(true, Key::fixed([7; 32]), vec![("key of cloud".into(), "own-key-of-ours-1".into())], &[r"PRJ-(\d{4,})".into()])
}

/// The text with each secret as `‹kind›`.
fn marked(text: &str) -> String {
    let hidden = privacy().inspect(text);
    let (mut marked, mut from) = (String::new(), 0);
    for (span, _) in vault::placeholders(&hidden) {
        let kind = hidden[span.clone()].split(':').nth(1).unwrap();
        marked += &format!("{}‹{kind}›", &hidden[from..span.start]);
        from = span.end;
    }
    marked + &hidden[from..]
}

/// Put together here, so that nobody who looks for keys finds one in this file.
fn key(prefix: &str, rest: &str) -> String {
    format!("{prefix}{rest}")
}

const LONG: &str = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kL7nP9rS1uV3xY5";
const HEX: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";

#[test]
fn every_kind_of_key_is_found_by_its_shape() {
    let cut = |length: usize| &LONG[..length];
    for (kind, secret) in [
        ("anthropic-key", key("sk-ant-", "api03-aB3dE5gH7jK9mN1p_Q3sT5vW7yZ9")),
        ("openrouter-key", key("sk-or-v1-", HEX)),
        ("openai-key", key("sk-", cut(48))),
        ("openai-key", key("sk-proj-", "aB3d_E5gH-7jK9mN1pQ3sT5vW7yZ9bC")),
        ("aws-access-key", key("AKIA", "2QWERTY7UIOP3ASD")),
        ("github-token", key("ghp_", cut(36))),
        ("github-token", key("github_pat_", &format!("{}_{}", cut(22), cut(40)))),
        ("gitlab-token", key("glpat-", cut(20))),
        ("slack-token", key("xoxb-", "123456789012-1234567890123-aB3dE5gH7jK9mN1pQ3sT5vW7")),
        ("stripe-key", key("sk_live_", cut(24))),
        ("stripe-key", key("rk_test_", cut(24))),
        ("google-key", key("AIza", cut(35))),
        ("google-key", key("GOCSPX-", cut(28))),
        ("npm-token", key("npm_", cut(36))),
        ("pypi-token", key("pypi-AgE", &format!("IcHlwaS5vcmc{LONG}"))),
        ("rubygems-key", key("rubygems_", &HEX[..48])),
        ("docker-token", key("dckr_pat_", cut(27))),
        ("hugging-face-token", key("hf_", cut(34))),
        ("sendgrid-key", key("SG.", &format!("{}.{}", cut(22), cut(43)))),
        ("mailgun-key", key("key-", &HEX[..32])),
        ("twilio-key", key("SK", &HEX[..32])),
        ("groq-key", key("gsk_", cut(50))),
        ("replicate-token", key("r8_", cut(37))),
        ("digitalocean-token", key("dop_v1_", HEX)),
        ("databricks-token", key("dapi", &HEX[..32])),
        ("shopify-token", key("shpat_", &HEX[..32])),
        ("telegram-token", key("123456789:AA", cut(33))),
        ("vault-token", key("hvs.", cut(28))),
        ("age-key", key("AGE-SECRET-KEY-1", &LONG.to_uppercase())),
        ("jwt", key("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U")),
    ] {
        for (before, after) in
            [("", ""), ("the key is ", ", keep it"), ("\"", "\""), ("     3\t", "\nnext"), ("export X=", " # mine"), ("(", ")")]
        {
            assert_eq!(marked(&format!("{before}{secret}{after}")), format!("{before}‹{kind}›{after}"), "{secret}");
        }
    }
}

#[test]
fn what_is_assigned_to_a_secrets_name_is_found() {
    for (text, expected) in [
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=‹password›"),
        ("DB_PASSWORD=correcthorsebattery\nX=1", "DB_PASSWORD=‹password›\nX=1"),
        ("     2\texport API_TOKEN=abc123def\n", "     2\texport API_TOKEN=‹secret-value›\n"),
        ("DB_PASSWORD=a\"b\\'c,;&<|1", "DB_PASSWORD=‹password›"),
        ("PGPASSWORD=hunter psql -h db", "PGPASSWORD=‹password› psql -h db"),
        (".env:3:SECRET_KEY_BASE=0123abcd4567 # rails", ".env:3:SECRET_KEY_BASE=‹secret-value› # rails"),
        ("AWS_SECRET_ACCESS_KEY = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz1234", "AWS_SECRET_ACCESS_KEY = ‹secret-value›"),
        ("  password: hunter2\n", "  password: ‹password›\n"),
        ("  db-password: 'it''s'\n", "  db-password: 'it''s'\n"),
        ("password = hunter22", "password = ‹password›"),
        ("pin_code_password: \"93817264\"", "pin_code_password: \"‹password›\""),
        (r#"{"apiKey": "0a1b2c3d4e5f", "n": 1}"#, r#"{"apiKey": "‹secret-value›", "n": 1}"#),
        (r#"{"client_secret":"d9428888-122b-11e1-b85c-61cd3cbb3210"}"#, r#"{"client_secret":"‹secret-value›"}"#),
        (r#"{"password": "a\"b\\c9"}"#, r#"{"password": "‹password›"}"#),
        (r#""{\"token\": \"abc123def\", \"x\": 1}""#, r#""{\"token\": \"‹secret-value›\", \"x\": 1}""#),
        ("const token: &str = \"abc123def456\";", "const token: &str = \"‹secret-value›\";"),
        ("let api_key = 'q8Zk3Lw9';", "let api_key = '‹secret-value›';"),
        ("curl 'https://x.example/?access_token=abc123def&y=1'", "curl 'https://x.example/?access_token=‹secret-value›&y=1'"),
        ("mysql --password hunter2 db", "mysql --password ‹password› db"),
        ("mysql --password=hunter2 db", "mysql --password=‹password› db"),
        ("<password>hunter2</password>", "<password>‹password›</password>"),
        ("Server=db;User Id=sa;Password=Str0ng!Pass;Encrypt=yes", "Server=db;User Id=sa;Password=‹password›;Encrypt=yes"),
        ("//registry.example/:_authToken=1a2b3c4d5e", "//registry.example/:_authToken=‹secret-value›"),
        ("machine git.example login me password pa55word", "machine git.example login me password ‹password›"),
        ("postgres://app:s3cr3t@db.example:5432/app", "postgres://app:‹password›@db.example:5432/app"),
        ("DATABASE_URL=mysql://root:Tr0ub4dor@h/d", "DATABASE_URL=mysql://root:‹password›@h/d"),
        ("Authorization: Bearer abcd.efgh-1234", "Authorization: Bearer ‹authorization›"),
        (r#"-H "Authorization: Basic dXNlcjpwYXNz""#, r#"-H "Authorization: Basic ‹authorization›""#),
        ("AccountName=x;AccountKey=abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMN==;End", "AccountName=x;AccountKey=‹azure-key›;End"),
        ("my ticket is PRJ-12345.", "my ticket is PRJ-‹private-text›."),
        ("it is own-key-of-ours-1!", "it is ‹key-of-cloud›!"),
    ] {
        assert_eq!(marked(text), expected, "{text}");
    }
}

#[test]
fn what_only_looks_like_a_secret_stays() {
    for text in [
        // Hashes and ids.
        "commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  file",
        "\"integrity\": \"sha512-Yx8qzK3hW0OvXl3gQ8yU6t6Jr9n2cH5bM7kP4dS1fA9eZ0iV3uX6wT8rB2nG5jL1mC4oQ7pH0sD3kF6yE9aI2w==\"",
        "checksum = \"2f4e9a1b7c3d5e6f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7\"",
        "id: d9428888-122b-11e1-b85c-61cd3cbb3210",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3s0jE2m7k me@host",
        "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUd8s7d8f7s8d7f8s7df87sd8f7\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
        // Types, code, references.
        "password: string;",
        "  token: Token,",
        "password: Option<String>,",
        "let token = parser.next_token();",
        "token = lexer2.next()",
        "self.password = password",
        "password=password, token=token2)",
        "if password == \"hunter2\" {",
        "password := os.Getenv(\"DB_PASSWORD\")",
        "api_key = os.environ[\"API_KEY\"]",
        "apiKey: process.env.API_KEY1,",
        "        key_password=certs[0][2],\n",
        "        request_token=request.resource_owner_key2):\n",
        "    self, private_key: ed25519.Ed25519PrivateKey, x",
        "    token: UINT32,",
        "WBEM_E_LOCAL_CREDENTIALS = 0x80041064,",
        "  generate_private_key: x25519_generate_private_key,",
        "const APPLICATION_PASSWORD = kSecAccessControlApplicationPassword;",
        "token = r'[^\\W\\d]\\w*1'",
        "machine {host} login {user} password {self.password}",
        "PASSWORD=os.environ[\"DB_PASSWORD\"]",
        "PASSWORD=getpass(prompt1)",
        "PASSWORD=$DB_PASSWORD",
        "PASSWORD=${DB_PASSWORD:-none}",
        "PASSWORD=$(cat /run/secrets/db)",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "password: {{ .Values.password1 }}",
        "DB_PASSWORD_FILE=/run/secrets/db1",
        "secretName: my-secret-1",
        "token_type: bearer1",
        "max_tokens: 4096, tokens=81920",
        "eos_token = \"abc123def\"",
        "tokenizer = \"bert-base-uncased1\"",
        "passwordField: 'pw1field'",
        "type=\"password\" name=\"password\" autocomplete=\"current-password\"",
        "\"password\": \"Enter your password, please (8 characters)\"",
        "\"password\": \"Kennwort\"",
        "fn password(&self) -> &str {",
        "match token { Token::Ident(name1) => 1 }",
        "secret: &'static str",
        "secretKeyRef: {name: db-1, key: password}",
        "token: 12345678",
        // What stands in examples.
        "API_KEY=your_api_key_123",
        "PASSWORD=changeme",
        "PASSWORD=xxxxxxxx1",
        "TOKEN=<your token 1>",
        "password: \"********\"",
        "postgres://user:password@localhost/db",
        "https://user@host.example/path:8080@x",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer <token>",
        // No keys by their shape.
        "sk-fading-circle-and-so-on-here",
        "task-3aB4c5D6e7F8g9H0i1J2k3L4",
        "ghp_short",
        "AKIA is how they begin",
        "npm_config_registry",
        "hf_transformers_and_other_words_here_too",
        "https://hooks.slack.com/services/",
        "wordsk-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1",
        // Words with a known one in them.
        "own-key-of-ours-12 is another",
        "PRJ-12",
    ] {
        assert_eq!(marked(text), text);
    }
    for example in [key("AKIA", "IOSFODNN7EXAMPLE"), key("ghp_", &"x".repeat(36)), key("sk-ant-", "your-key-goes-in-here")] {
        assert_eq!(marked(&example), example);
    }
}

#[test]
fn a_private_key_is_hidden_line_by_line_however_it_is_written() {
    let begin = key("-----BEGIN OPENSSH ", "PRIVATE KEY-----");
    let end = key("-----END OPENSSH ", "PRIVATE KEY-----");
    let (one, two) = (&LONG[..40], &LONG[5..45]);
    let plain = format!("{begin}\n{one}\n{two}\n{end}\nafter aB3dE5gH7jK9mN1pQ3sT5vW7yZ9");
    let hidden = privacy().inspect(&plain);
    assert!(!hidden.contains(one) && !hidden.contains(two) && hidden.ends_with("after aB3dE5gH7jK9mN1pQ3sT5vW7yZ9"), "{hidden}");
    let numbered = format!("     1\t{begin}\n     2\t{one}\n     3\t{two}\n     4\t{end}");
    assert_eq!(marked(&numbered), format!("     1\t{begin}\n     2\t‹private-key›\n     3\t‹private-key›\n     4\t{end}"));
    let escaped = format!(r#"{{"private_key": "{begin}\n{one}\n{two}\n{end}\n"}}"#);
    assert_eq!(marked(&escaped), format!(r#"{{"private_key": "{begin}\n‹private-key›\n‹private-key›\n{end}\n"}}"#));
    // The same line has the same placeholder, and a key that was cut is one.
    assert!(privacy().inspect(&numbered).contains(hidden.lines().nth(1).unwrap()));
    assert_eq!(marked(&format!("{begin}\n{one}")), format!("{begin}\n‹private-key›"));
}

#[test]
fn a_secret_that_was_found_once_is_hidden_wherever_it_stands() {
    let mut privacy = privacy();
    let first = privacy.hide("DB_PASSWORD=Tr0ub4dor&3", Origin::World, "View .env").unwrap();
    let placeholder = first.strip_prefix("DB_PASSWORD=").unwrap();
    assert_eq!(privacy.hide("connecting with Tr0ub4dor&3 …", Origin::World, "x").unwrap(), format!("connecting with {placeholder} …"));
    // A word may mean something else.
    privacy.hide("DB_PASSWORD=correcthorse", Origin::World, "View .env").unwrap();
    assert_eq!(privacy.hide("a correcthorse", Origin::World, "x"), None);
}

#[test]
fn a_key_that_is_given_later_is_known_from_then_on() {
    let mut privacy = privacy();
    let text = "the-word-of-the-day is in it";
    assert_eq!(privacy.inspect(text), text);
    privacy.know("key of other".into(), "the-word-of-the-day".into());
    assert!(privacy.inspect(text).starts_with("[secret:key-of-other:"));
}

#[test]
fn placeholders_depend_on_the_secret_and_the_key_alone() {
    let of = |key: u8| Privacy::new(true, Key::fixed([key; 32]), vec![], &[]);
    let text = "TOKEN=abc123def and PASSWORD=other1234";
    assert_eq!(
        of(1).inspect(text),
        of(1).inspect(&format!("PASSWORD=first1234 {text}")).replacen(&of(1).inspect("PASSWORD=first1234 "), "", 1)
    );
    assert_ne!(of(1).inspect(text), of(2).inspect(text));
    assert_eq!(of(1).inspect("TOKEN=abc123def").len(), "TOKEN=[secret:secret-value:abcdefgh]".len());
}

#[test]
fn long_lines_are_looked_through_once() {
    let secret = key("ghp_", &LONG[..36]);
    for part in [
        "password=",
        "\"token\": \"",
        "eyJaaaaaaaaa.",
        "https://a:b",
        "-----BEGIN PRIVATE KEY-----",
        "\\\\\\",
        "[secret:a:",
        "sk-aB3-",
        "Bearer ",
        "api_key",
    ] {
        // Where a beginning was looked at to the end of the line each time, this would take minutes.
        let line = format!("{} {secret}", part.repeat(60_000 / part.len()));
        assert!(!privacy().inspect(&line).contains(&secret), "{part}");
    }
    let line = format!("{}{secret}{}", "x".repeat(15_000) + " ", " ".to_owned() + &"y".repeat(15_000));
    assert!(marked(&line).contains("x ‹github-token› y"));
}

#[test]
fn patterns_of_the_users_are_checked() {
    assert!(check(r"EMP-\d{6}").is_ok());
    for (pattern, why) in [("(", "unclosed group"), ("a*", "nothing"), (r"\w{1000}{1000}", "size limit"), ("(?=a)", "look-around")] {
        let told = check(pattern).unwrap_err();
        assert!(told.contains(why), "{pattern}: {told}");
    }
}

/// What `sh` prints for a command line.
#[cfg(unix)]
pub fn said(line: &str) -> String {
    let out = std::process::Command::new("sh").args(["-c", line]).output().unwrap();
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn a_secret_that_a_shell_would_read_is_no_command() {
    let mut privacy = privacy();
    let hidden = privacy.hide("PASSWORD=a1;touch$IFS/tmp/x", Origin::World, "View .env").unwrap();
    let placeholder = &hidden["PASSWORD=".len()..];
    let args = |command: String| serde_json::json!({ "command": command });
    let why = privacy.previewed(CallId(1), args(format!("psql -W {placeholder}"))).unwrap_err();
    assert!(why.contains("within plain single quotes"), "{why}");
    privacy.set(false);
    assert!(privacy.previewed(CallId(1), args(format!("psql -W {placeholder}"))).is_err(), "off, too: the model may still have it");
    let real = privacy.previewed(CallId(1), args(format!("psql -W '{placeholder}'")));
    assert_eq!(real, Ok(args("psql -W 'a1;touch$IFS/tmp/x'".into())));
    // Nothing of a shell's is about a file.
    let text = serde_json::json!({ "content": hidden });
    assert_eq!(privacy.previewed(CallId(1), text), Ok(serde_json::json!({ "content": "PASSWORD=a1;touch$IFS/tmp/x" })));
}
