//! A folder of artifacts, by the image layout of the OCI image specification 1.1: what needs no registry, and what `skopeo`, `oras` and
//! others read and write as well.
//!
//! Content is written first, each file under another name until it is whole, and then `index.json` takes the place of the last one: a
//! reader finds the folder as it was or as it is. Writers wait for one another. Links are not followed below the folder.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use intent_gateway_domain::digest::Digest;
use rustix::fs::{AtFlags, Mode, OFlags, fsync, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, Blob};
use crate::error::{InvalidArtifact, RegistryError};
use crate::manifest::{
    Descriptor, Document, Index, MANIFEST_MAX_BYTES, MANIFEST_TYPE, REF_NAME_ANNOTATION, SIGNATURES_TYPE, as_u64,
};
use crate::name::{Reference, Tag};
use crate::place::{SIGNATURES_MANIFESTS_MAX, TAGS_MAX, too_many_signatures, too_many_tags};

const MARKER: &str = "oci-layout";
const MARKER_MAX_BYTES: usize = 4 * 1024;
const LAYOUT_VERSION: &str = "1.0.0";
/// What the name of a file begins with that is not whole yet.
const NEW: &str = ".new-";
const INDEX: &str = "index.json";
const BLOBS: &str = "blobs";
const SHA256_FOLDER: &str = "sha256";
/// Manifests that are read to find those of signatures, of tools that do not write in the index of what type they are.
const SCANNED_MAX: usize = 1_000;
/// How often it is looked whether another writer is done.
const LOCK_LOOK: Duration = Duration::from_millis(20);
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o755);
const FILE_MODE: Mode = Mode::from_raw_mode(0o644);

/// Tells files apart that one process writes at the same time.
static NEXT_NAME: AtomicU64 = AtomicU64::new(0);

/// A folder that is, or becomes, a layout.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MarkerJson {
    image_layout_version: String,
}

impl Layout {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) async fn resolve(&self, reference: &Reference) -> Result<Option<Digest>, RegistryError> {
        let reference = reference.clone();
        self.read(move |folder| folder.resolve(&reference)).await
    }

    pub(crate) async fn manifest(&self, reference: &Reference) -> Result<Option<Vec<u8>>, RegistryError> {
        let reference = reference.clone();
        self.read(move |folder| {
            let Some(digest) = folder.resolve(&reference)? else { return Ok(None) };
            let content = folder.read_blob(digest, "the manifest", MANIFEST_MAX_BYTES)?;
            match (content, reference) {
                (None, Reference::Tag(_)) => Err(folder.lacks(&Reference::Digest(digest))),
                (content, _) => Ok(content),
            }
        })
        .await
    }

    pub(crate) async fn blob(&self, described: &Descriptor, what: &'static str) -> Result<Vec<u8>, RegistryError> {
        let described = described.clone();
        self.read(move |folder| {
            let size = usize::try_from(described.size).unwrap_or(usize::MAX);
            let altered = RegistryError::Altered { what, expected: described.digest };
            match folder.read_blob(described.digest, what, size) {
                Ok(Some(content)) if described.is_of(&content) => Ok(content),
                Ok(None) => Err(folder.lacks(&Reference::Digest(described.digest))),
                Ok(Some(_)) | Err(RegistryError::TooLarge { .. }) => Err(altered),
                Err(error) => Err(error),
            }
        })
        .await
    }

    pub(crate) async fn tags(&self) -> Result<Vec<Tag>, RegistryError> {
        self.read(|folder| {
            let index = folder.read_index()?;
            let tags: Vec<Tag> = index.manifests.iter().filter_map(tag_of).collect();
            if tags.len() > TAGS_MAX { Err(too_many_tags()) } else { Ok(tags) }
        })
        .await
    }

    pub(crate) async fn signatures(&self, artifact: Digest) -> Result<Vec<Descriptor>, RegistryError> {
        self.read(move |folder| folder.find_signatures(artifact)).await
    }

    /// Writes an artifact and its signatures, and then that the tag names it. What the tag named before stays, without a tag.
    pub(crate) async fn publish(
        &self,
        artifact: Artifact,
        signatures: Option<Artifact>,
        tag: Tag,
    ) -> Result<(), RegistryError> {
        let path = self.path.clone();
        let folder = in_background(self, move || Folder::begin(path)).await?;
        // The lock is the folder's own, so that no further file is in it.
        let lock = folder.lock_file()?;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(std::fs::TryLockError::WouldBlock) => tokio::time::sleep(LOCK_LOOK).await,
                Err(std::fs::TryLockError::Error(cause)) => return Err(folder.disk("locking", cause)),
            }
        }
        in_background(self, move || {
            let outcome = folder.make_layout().and_then(|()| folder.publish(&artifact, signatures.as_ref(), &tag));
            // It ends with the file, and not before the work does, however long somebody waits for it.
            drop(lock);
            outcome
        })
        .await
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        let path = self.path.clone();
        in_background(self, move || work(&Folder::open(path)?)).await
    }
}

async fn in_background<T: Send + 'static>(
    layout: &Layout,
    work: impl FnOnce() -> Result<T, RegistryError> + Send + 'static,
) -> Result<T, RegistryError> {
    let cut = |cause| RegistryError::Unreachable { place: layout.path.display().to_string(), cause };
    tokio::task::spawn_blocking(work).await.map_err(|error| cut(error.into()))?
}

/// An open layout.
struct Folder {
    root: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens a layout. A folder that is none is refused; one that is empty has nothing in it.
    fn open(path: PathBuf) -> Result<Self, RegistryError> {
        let folder = Self::open_root(path)?;
        if folder.is_layout()? {
            Ok(folder)
        } else if folder.is_empty()? {
            Err(folder.no_layout_yet())
        } else {
            Err(InvalidArtifact::NoLayout.into())
        }
    }

    /// Opens a folder to write to it; makes it where there is none.
    fn begin(path: PathBuf) -> Result<Self, RegistryError> {
        std::fs::create_dir_all(&path).map_err(|cause| RegistryError::Disk {
            what: "creating",
            path: path.clone(),
            cause,
        })?;
        Self::open_root(path)
    }

    /// Makes a layout of an empty folder. Under the lock: whoever comes second finds it made.
    fn make_layout(&self) -> Result<(), RegistryError> {
        if self.is_layout()? {
            return Ok(());
        }
        if !self.is_empty()? {
            return Err(InvalidArtifact::NoLayout.into());
        }
        let marker = MarkerJson { image_layout_version: LAYOUT_VERSION.to_owned() };
        let marker = serde_json::to_vec(&marker).map_err(|error| self.disk("creating", error.into()))?;
        self.write_file(self.root.as_fd(), MARKER, &marker)
    }

    /// An error where it is a layout of another version.
    fn is_layout(&self) -> Result<bool, RegistryError> {
        let Some(json) = self.read_file(self.root.as_fd(), MARKER, "the marker", MARKER_MAX_BYTES)? else {
            return Ok(false);
        };
        match serde_json::from_slice::<MarkerJson>(&json) {
            Ok(marker) if marker.image_layout_version == LAYOUT_VERSION => Ok(true),
            _ => Err(InvalidArtifact::NoLayout.into()),
        }
    }

    /// Whether nothing is in it but what a writer that was killed has left.
    fn is_empty(&self) -> Result<bool, RegistryError> {
        for entry in std::fs::read_dir(&self.path).map_err(|cause| self.disk("listing", cause))? {
            let entry = entry.map_err(|cause| self.disk("listing", cause))?;
            if !entry.file_name().as_encoded_bytes().starts_with(NEW.as_bytes()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn no_layout_yet(&self) -> RegistryError {
        RegistryError::NotFound { place: self.path.display().to_string(), what: "layout".to_owned() }
    }

    fn open_root(path: PathBuf) -> Result<Self, RegistryError> {
        match rustix::fs::open(&path, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY, Mode::empty()) {
            Ok(root) => Ok(Self { root, path }),
            Err(Errno::NOENT) => {
                Err(RegistryError::NotFound { place: path.display().to_string(), what: "layout".to_owned() })
            }
            Err(Errno::NOTDIR) => Err(InvalidArtifact::NoLayout.into()),
            Err(error) => Err(RegistryError::Disk { what: "opening", path, cause: error.into() }),
        }
    }

    fn lock_file(&self) -> Result<File, RegistryError> {
        self.root.try_clone().map(File::from).map_err(|cause| self.disk("locking", cause))
    }

    fn resolve(&self, reference: &Reference) -> Result<Option<Digest>, RegistryError> {
        match reference {
            // Whatever is there under its digest can be asked for, as at a registry.
            Reference::Digest(digest) => {
                let content = self.read_blob(*digest, "the manifest", MANIFEST_MAX_BYTES)?;
                Ok(content.map(|_| *digest))
            }
            Reference::Tag(tag) => {
                let index = self.read_index()?;
                let named = index.manifests.iter().find(|one| tag_of(one).as_ref() == Some(tag));
                Ok(named.map(|one| one.digest))
            }
        }
    }

    fn read_index(&self) -> Result<Index, RegistryError> {
        let json = self.read_file(self.root.as_fd(), INDEX, "the index", MANIFEST_MAX_BYTES)?;
        json.map_or_else(|| Ok(Index::default()), |json| Ok(Index::read(&json)?))
    }

    fn find_signatures(&self, artifact: Digest) -> Result<Vec<Descriptor>, RegistryError> {
        let index = self.read_index()?;
        // A manifest that says nothing of its type may be one of signatures all the same.
        let may_be = |one: &&Descriptor| {
            one.media_type == MANIFEST_TYPE && one.artifact_type.as_deref().is_none_or(|found| found == SIGNATURES_TYPE)
        };
        let mut found = Vec::new();
        for (scanned, one) in index.manifests.iter().filter(may_be).enumerate() {
            if scanned >= SCANNED_MAX || found.len() > SIGNATURES_MANIFESTS_MAX {
                return Err(too_many_signatures());
            }
            let Some(json) = self.read_blob(one.digest, "the manifest", MANIFEST_MAX_BYTES)? else { continue };
            if let Document::Manifest(manifest) = Document::read(&json)?
                && manifest.artifact_type.as_deref() == Some(SIGNATURES_TYPE)
                && manifest.subject.is_some_and(|subject| subject.digest == artifact)
            {
                found.push(one.clone());
            }
        }
        Ok(found)
    }

    fn publish(&self, artifact: &Artifact, signatures: Option<&Artifact>, tag: &Tag) -> Result<(), RegistryError> {
        let all = || [Some(artifact), signatures].into_iter().flatten();
        for blob in all().flat_map(|one| one.blobs.iter().chain([&one.manifest])) {
            self.write_blob(blob)?;
        }
        let mut index = self.read_index()?;
        for entry in &mut index.manifests {
            if tag_of(entry).as_ref() == Some(tag) {
                entry.annotations.remove(REF_NAME_ANNOTATION);
            }
        }
        let digests: Vec<Digest> = all().map(|one| one.manifest.descriptor.digest).collect();
        index.manifests.retain(|one| tag_of(one).is_some() || !digests.contains(&one.digest));
        let named = BTreeMap::from([(REF_NAME_ANNOTATION.to_owned(), tag.to_string())]);
        index.manifests.push(Descriptor { annotations: named, ..artifact.manifest.descriptor.clone() });
        index.manifests.extend(signatures.map(|signatures| signatures.manifest.descriptor.clone()));
        self.write_file(self.root.as_fd(), INDEX, &index.to_json()?)
    }

    fn write_blob(&self, blob: &Blob) -> Result<(), RegistryError> {
        let blobs = self.make_folder(self.root.as_fd(), BLOBS)?;
        let folder = self.make_folder(blobs.as_fd(), SHA256_FOLDER)?;
        let name = blob.descriptor.digest.to_string();
        let there = self.read_file(folder.as_fd(), &name, "a blob", blob.content.len());
        // What was damaged is written anew.
        match there {
            Ok(Some(content)) if content == *blob.content => Ok(()),
            _ => self.write_file(folder.as_fd(), &name, &blob.content),
        }
    }

    /// The content under a digest; none where there is none.
    fn read_blob(&self, digest: Digest, what: &'static str, max: usize) -> Result<Option<Vec<u8>>, RegistryError> {
        let Some(blobs) = self.open_folder(self.root.as_fd(), BLOBS)? else { return Ok(None) };
        let Some(folder) = self.open_folder(blobs.as_fd(), SHA256_FOLDER)? else { return Ok(None) };
        let content = self.read_file(folder.as_fd(), &digest.to_string(), what, max)?;
        match content {
            Some(content) if Digest::of(&content) != digest => Err(RegistryError::Altered { what, expected: digest }),
            content => Ok(content),
        }
    }

    fn open_folder(&self, at: impl AsFd, name: &'static str) -> Result<Option<OwnedFd>, RegistryError> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        match openat(at, name, flags, Mode::empty()) {
            Ok(folder) => Ok(Some(folder)),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(InvalidArtifact::Link("a folder of the layout").into()),
            Err(error) => Err(self.disk("opening a folder", error.into())),
        }
    }

    fn make_folder(&self, at: impl AsFd, name: &'static str) -> Result<OwnedFd, RegistryError> {
        match mkdirat(&at, name, FOLDER_MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(self.disk("creating a folder", error.into())),
        }
        let made = self.open_folder(at, name)?;
        made.ok_or_else(|| self.disk("creating a folder", ErrorKind::NotFound.into()))
    }

    /// A file's content; none where there is no such file.
    fn read_file(
        &self,
        at: impl AsFd,
        name: &str,
        what: &'static str,
        max: usize,
    ) -> Result<Option<Vec<u8>>, RegistryError> {
        // A pipe in the place of a file would be waited for.
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY | OFlags::NONBLOCK;
        let file = match openat(at, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(InvalidArtifact::Link("a file of the layout").into()),
            Err(error) => return Err(self.disk("opening a file", error.into())),
        };
        let reading = |cause| self.disk("reading", cause);
        let metadata = file.metadata().map_err(reading)?;
        if !metadata.is_file() {
            return Err(InvalidArtifact::NoLayout.into());
        }
        let (limit, mut content) = (as_u64(max), Vec::new());
        let too_large = || RegistryError::TooLarge { what, limit, unit: "bytes" };
        if metadata.len() > limit {
            return Err(too_large());
        }
        file.take(limit.saturating_add(1)).read_to_end(&mut content).map_err(reading)?;
        if content.len() > max { Err(too_large()) } else { Ok(Some(content)) }
    }

    /// Writes a file under another name, and gives it its own once it is on the disk.
    fn write_file(&self, at: impl AsFd, name: &str, content: &[u8]) -> Result<(), RegistryError> {
        let number = NEXT_NAME.fetch_add(1, Ordering::Relaxed);
        let new = format!("{NEW}{}-{number}", std::process::id());
        let written = self.write_new(&at, &new, content);
        let failed = |what| move |error: Errno| self.disk(what, error.into());
        let renamed = written.and_then(|()| renameat(&at, &new, &at, name).map_err(failed("renaming a file")));
        if renamed.is_err() {
            // What is left of it is in nobody's way; why it failed is told by the error.
            let _ = unlinkat(&at, &new, AtFlags::empty());
        }
        renamed?;
        fsync(at).map_err(failed("syncing a folder"))
    }

    fn write_new(&self, at: impl AsFd, name: &str, content: &[u8]) -> Result<(), RegistryError> {
        let writing = |cause| self.disk("writing", cause);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::WRONLY;
        // Left by a process of the same number that was killed.
        let _ = unlinkat(&at, name, AtFlags::empty());
        let mut file = File::from(openat(at, name, flags, FILE_MODE).map_err(|error| writing(error.into()))?);
        file.write_all(content).and_then(|()| file.sync_all()).map_err(writing)
    }

    fn disk(&self, what: &'static str, cause: std::io::Error) -> RegistryError {
        RegistryError::Disk { what, path: self.path.clone(), cause }
    }

    fn lacks(&self, what: &Reference) -> RegistryError {
        RegistryError::NotFound { place: self.path.display().to_string(), what: what.to_string() }
    }
}

/// The tag of an entry of the index. Some tools write a whole name there, which is none.
fn tag_of(entry: &Descriptor) -> Option<Tag> {
    entry.annotations.get(REF_NAME_ANNOTATION)?.parse().ok()
}
