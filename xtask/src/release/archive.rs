//! Archives that come out the same, byte for byte, each time they are made of the same files.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};

/// How much time is given for how small a file.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// For what is only tried.
    Little,
    /// For what is handed out.
    Much,
}

impl Effort {
    pub(crate) fn compression(self) -> Compression {
        match self {
            Self::Little => Compression::fast(),
            Self::Much => Compression::best(),
        }
    }
}

/// Writes an archive of a folder; in the archive everything lies below a folder of that name.
pub(crate) fn write_tar_gz(folder: &Path, name: &str, time: u64, to: &Path) -> anyhow::Result<()> {
    let file = File::create(to).with_context(|| format!("cannot write {}", to.display()))?;
    let mut tar = Tar::new(GzEncoder::new(BufWriter::new(file), Effort::Much.compression()), time);
    tar.folder(name, 0o755, 0)?;
    tar.add(folder, name)?;
    tar.finish()?.finish().and_then(|mut file| file.flush()).with_context(|| format!("cannot write {}", to.display()))
}

/// Compresses a file.
pub(crate) fn write_gz(from: &Path, to: &Path) -> anyhow::Result<()> {
    let compress = || -> std::io::Result<()> {
        let mut packed = GzEncoder::new(BufWriter::new(File::create(to)?), Effort::Much.compression());
        std::io::copy(&mut File::open(from)?, &mut packed)?;
        packed.finish()?.flush()
    };
    compress().with_context(|| format!("cannot write {} into {}", from.display(), to.display()))
}

/// Unpacks a compressed file.
pub(crate) fn read_gz(from: &Path, to: &Path) -> anyhow::Result<()> {
    let unpack = || -> std::io::Result<()> {
        let mut packed = GzDecoder::new(BufReader::new(File::open(from)?));
        std::io::copy(&mut packed, &mut File::create(to)?)?;
        Ok(())
    };
    unpack().with_context(|| format!("cannot unpack {} into {}", from.display(), to.display()))
}

/// A tape archive whose entries all have one time and, unless said otherwise, one owner.
pub(crate) struct Tar<W: Write> {
    builder: tar::Builder<W>,
    time: u64,
}

impl<W: Write> Tar<W> {
    pub(crate) fn new(writer: W, time: u64) -> Self {
        Self { builder: tar::Builder::new(writer), time }
    }

    /// Adds what is below a folder, in the order of names.
    pub(crate) fn add(&mut self, folder: &Path, below: &str) -> anyhow::Result<()> {
        for path in list_sorted(folder)? {
            let name = path.file_name().context("an entry has a name")?.to_string_lossy();
            let inside = if below.is_empty() { name.into_owned() } else { format!("{below}/{name}") };
            if path.is_dir() {
                self.folder(&inside, 0o755, 0)?;
                self.add(&path, &inside)?;
            } else {
                let mode = std::fs::metadata(&path).with_context(|| path.display().to_string())?.permissions().mode();
                let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                self.file(&inside, mode & 0o777, &bytes)?;
            }
        }
        Ok(())
    }

    /// Adds a folder that belongs to a user.
    pub(crate) fn folder(&mut self, name: &str, mode: u32, owner: u64) -> anyhow::Result<()> {
        self.entry(&format!("{name}/"), EntryType::Directory, mode, owner, &[])
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, name: &str, mode: u32, bytes: &[u8]) -> anyhow::Result<()> {
        self.entry(name, EntryType::Regular, mode, 0, bytes)
    }

    fn entry(&mut self, name: &str, kind: EntryType, mode: u32, owner: u64, bytes: &[u8]) -> anyhow::Result<()> {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(owner);
        header.set_gid(owner);
        header.set_mtime(self.time);
        header.set_size(bytes.len() as u64);
        self.builder.append_data(&mut header, name, bytes).with_context(|| format!("cannot archive {name}"))
    }

    pub(crate) fn finish(self) -> anyhow::Result<W> {
        self.builder.into_inner().context("cannot end an archive")
    }
}

fn list_sorted(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let unreadable = || format!("cannot list {}", folder.display());
    let entries = std::fs::read_dir(folder).with_context(unreadable)?;
    let mut paths =
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>().with_context(unreadable)?;
    paths.sort();
    Ok(paths)
}

/// The files of a folder with their sizes, in the order of names.
pub(crate) fn list_files(folder: &Path) -> anyhow::Result<Vec<(String, u64)>> {
    let files = list_sorted(folder)?.into_iter().filter(|path| path.is_file());
    files
        .map(|path| {
            let bytes = std::fs::metadata(&path).with_context(|| path.display().to_string())?.len();
            Ok((path.file_name().context("a file has a name")?.to_string_lossy().into_owned(), bytes))
        })
        .collect()
}

/// SHA-256 of a file, in hexadecimal digits.
pub(crate) fn digest(path: &Path) -> anyhow::Result<String> {
    let unreadable = || format!("cannot read {}", path.display());
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1024 * 1024]);
    let mut file = File::open(path).with_context(unreadable)?;
    loop {
        match file.read(&mut buffer).with_context(unreadable)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// SHA-256 of bytes, likewise.
pub(crate) fn digest_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_comes_out_the_same_whatever_the_times_and_the_order_of_its_files() {
        let archive_of = |names: [&str; 3]| {
            let folder = std::env::temp_dir().join(format!("xtask-archive-{}-{}", std::process::id(), names[0]));
            std::fs::create_dir_all(folder.join("below")).expect("made");
            for name in names {
                std::fs::write(folder.join(name), name).expect("written");
            }
            let to = folder.with_extension("tar.gz");
            write_tar_gz(&folder, "top", 1_700_000_000, &to).expect("archived");
            let bytes = std::fs::read(&to).expect("there");
            std::fs::remove_dir_all(&folder).and_then(|()| std::fs::remove_file(&to)).expect("removed");
            bytes
        };
        let one = archive_of(["a", "b", "below/c"]);
        assert!(one == archive_of(["below/c", "b", "a"]) && one.len() > 60, "two archives of the same files differ");
    }

    #[test]
    fn what_is_compressed_is_read_back() {
        let folder = std::env::temp_dir().join(format!("xtask-gz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("made");
        let [plain, packed, back] = ["plain", "packed.gz", "back"].map(|name| folder.join(name));
        std::fs::write(&plain, "counts\n".repeat(1000)).expect("written");
        write_gz(&plain, &packed).expect("compressed");
        read_gz(&packed, &back).expect("read");
        assert_eq!(std::fs::read(&plain).expect("there"), std::fs::read(&back).expect("there"));
        assert!(read_gz(&plain, &back).is_err(), "this is not compressed");
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_digest_is_that_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(digest_of(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
