use std::os::unix::fs::PermissionsExt;

use super::*;

fn written(text: &[u8], mode: u32) -> (tempfile::TempDir, SecretSource) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("the token");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    (dir, SecretSource::File(path))
}

fn shell(script: &str) -> SecretSource {
    SecretSource::Command(["sh", "-c", script].map(str::to_owned).to_vec())
}

async fn fault(source: &SecretSource) -> Fault {
    source.read().await.expect_err("no secret was to be had").fault()
}

#[tokio::test]
async fn a_file_gives_its_line() {
    for (text, secret) in [("s3cret\n", "s3cret"), ("s3cret", "s3cret"), ("a=b c\r\n", "a=b c"), (" x ", " x ")] {
        for mode in [0o600, 0o400] {
            let (_dir, source) = written(text.as_bytes(), mode);
            assert_eq!(source.read().await.unwrap().expose(), secret);
        }
    }
}

#[tokio::test]
async fn a_file_open_to_others_is_refused_with_the_command_to_mend_it() {
    for mode in [0o640, 0o604, 0o660, 0o602, 0o610] {
        let (dir, source) = written(b"hunter2", mode);
        let error = source.read().await.unwrap_err();
        assert_eq!(error.fault(), Fault::Mode(mode));
        let path = dir.path().join("the token");
        assert_eq!(error.to_string(), format!("secret file {}: its mode {mode:04o} lets others in", path.display()));
        assert_eq!(error.help(), format!("chmod 600 '{}'", path.display()));
        assert!(!format!("{error:?}").contains("hunter2"));
    }
}

#[tokio::test]
async fn what_is_no_secret_is_an_error() {
    for (text, expected) in [
        (b"".as_slice(), Fault::Empty),
        (b"\n\n", Fault::Empty),
        (b"  \n", Fault::Empty),
        (b"one\ntwo\n", Fault::NotOneLine),
        (b"a\x1b[2J", Fault::NotOneLine),
        (b"\xff\xfe", Fault::NotText),
        (&[b'a'; 65_537], Fault::TooLong),
    ] {
        let (_dir, source) = written(text, 0o600);
        assert_eq!(fault(&source).await, expected);
    }
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(fault(&SecretSource::File(dir.path().to_owned())).await, Fault::NotAFile);
    let absent = SecretSource::File(dir.path().join("absent")).read().await.unwrap_err();
    assert_eq!(absent.fault(), Fault::Unreadable(std::io::ErrorKind::NotFound));
    assert!(absent.help().starts_with("create it: install -m 600 /dev/stdin /"), "{}", absent.help());
}

#[tokio::test]
async fn a_pipe_in_place_of_the_file_does_not_block() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg("-m600").arg(&path).status().unwrap();
    assert!(made.success());
    assert_eq!(fault(&SecretSource::File(path)).await, Fault::NotAFile);
}

#[tokio::test]
async fn an_environment_variable() {
    let secret = SecretSource::Env("CARGO_PKG_NAME".to_owned()).read().await;
    assert_eq!(secret.unwrap().expose(), "deevnet-console");
    let error = SecretSource::Env("DEEVNET_NOT_SET".to_owned()).read().await.unwrap_err();
    assert_eq!(error.to_string(), "environment variable DEEVNET_NOT_SET: it is not set");
    assert_eq!(error.help(), "set DEEVNET_NOT_SET to the secret before the start");
}

#[tokio::test]
async fn a_command_gives_its_first_line() {
    assert_eq!(shell("echo s3cret; echo notes").read().await.unwrap().expose(), "s3cret");
    assert_eq!(shell("printf s3cret").read().await.unwrap().expose(), "s3cret");
    assert_eq!(shell("cat; echo stdin is empty").read().await.unwrap().expose(), "stdin is empty");
    assert_eq!(fault(&shell("echo hunter2; exit 3")).await, Fault::Failed(3));
    assert_eq!(fault(&shell("kill -9 $$")).await, Fault::Killed);
    assert_eq!(fault(&shell("true")).await, Fault::Empty);
    assert_eq!(fault(&shell("echo; echo second")).await, Fault::Empty);
    assert_eq!(fault(&shell("head -c 70000 /dev/zero | tr '\\0' x")).await, Fault::TooLong);
    let absent = SecretSource::Command(vec!["deevnet-no-such-program".to_owned(), "hunter2".to_owned()]);
    let error = absent.read().await.unwrap_err();
    let text = format!("{error} {error:?} {}", error.help());
    assert!(
        text.starts_with("secret command deevnet-no-such-program: it cannot be started") && !text.contains("hunter2")
    );
}

#[tokio::test]
async fn a_late_command_is_an_error() {
    let late = Duration::from_millis(20);
    let error = shell("sleep 600").read_within(late).await.unwrap_err();
    assert_eq!(error.to_string(), "secret command sh: it did not end within 20ms");
}

/// Looks up to ten seconds, a hundred times a second.
async fn eventually(what: impl Fn() -> bool) {
    for _ in 0..1000 {
        if what() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not come to pass");
}

#[tokio::test]
async fn a_command_given_up_is_ended_with_all_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let note = dir.path().join("pid");
    // The shell waits for a process of its own, whose id it leaves behind.
    let source = shell(&format!("sleep 600 & echo $! > {}; wait", note.display()));
    let noted = || std::fs::read_to_string(&note).is_ok_and(|text| text.ends_with('\n'));
    tokio::select! {
        found = source.read() => panic!("the command ended: {found:?}"),
        () = eventually(noted) => {}
    }
    let pid = std::fs::read_to_string(&note).unwrap().trim().to_owned();
    let stat = Path::new("/proc").join(pid).join("stat");
    eventually(|| std::fs::read_to_string(&stat).map_or(true, |text| text.is_empty() || text.contains(") Z "))).await;
}

#[test]
fn a_secret_does_not_print() {
    let secret = Secret::new("hunter2".to_owned());
    assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "Secret(…) Some(\n    Secret(…),\n)");
}
