#!/usr/bin/env python3
"""Installs what `cargo xtask release` has made on a bare Debian, and uses it.

    python3 deploy/package/try.py FILES DEBIAN

FILES is the folder with the packages and the image, DEBIAN an archive of a bare Debian (`mmdebstrap --variant=minbase
--include=ca-certificates bookworm FILE`). It needs root, for the Debian is a folder that is changed into. Nothing outside of a folder
of its own is written.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

KEYS = "etc/intent-gateway/secrets"
STATE = "var/lib/intent-gateway"
IMAGE_USER = 65532
CHROOT = shutil.which("chroot") or "/usr/sbin/chroot"


class Failed(Exception):
    """Something is not as it should be."""


def require(holds, what):
    if not holds:
        raise Failed(what)


class Root:
    """A folder that programs take for the whole machine."""

    def __init__(self, path):
        self.path = path

    def run(self, *command, user=None, environment=None, code=0):
        """Runs a program in it to its end; what it printed and complained of."""
        spec = [f"--userspec={user}:{user}"] if user is not None else []
        done = subprocess.run(
            [CHROOT, *spec, self.path, *command],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        require(done.returncode == code, f"`{' '.join(command)}` ended with {done.returncode} and not {code}:\n{said}")
        return said

    def start(self, *command, user, environment):
        return subprocess.Popen(
            [CHROOT, f"--userspec={user}:{user}", self.path, *command],
            env={"PATH": "/usr/bin", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


@contextlib.contextmanager
def mounted(path):
    """The folder with what a kernel shows of processes, and with devices."""
    with contextlib.ExitStack() as undone:
        for name, source in (("proc", ["-t", "proc", "proc"]), ("dev", ["--bind", "/dev"])):
            (path / name).mkdir(exist_ok=True)
            subprocess.run(["mount", *source, path / name], check=True)
            undone.callback(subprocess.run, ["umount", "--lazy", path / name], check=True)
        yield Root(path)


def one(folder, pattern):
    """The one file of a folder whose name is like that."""
    found = list(folder.glob(pattern))
    require(len(found) == 1, f"{folder} has {len(found)} files like {pattern}")
    return found[0]


def read(root, name):
    return (root.path / name).read_text()


def try_packages(files, debian, folder):
    """Installs the packages, makes a first search, installs again, and purges."""
    path = folder / "debian"
    path.mkdir()
    subprocess.run(["tar", "--extract", "--numeric-owner", "--exclude=./dev/*", "--file", debian, "--directory", path], check=True)
    for name, package in (("intent-gateway_*.deb", "gateway.deb"), ("intent-gateway-author_*.deb", "author.deb")):
        shutil.copy(one(files, name), path / "tmp" / package)
    with mounted(path) as root:
        require(not shutil.which("cargo", path=str(path / "usr/bin")), "the Debian is not bare: it has cargo")
        began = time.monotonic()
        root.run("dpkg", "--install", "/tmp/gateway.deb")
        installed = time.monotonic()
        said = root.run("intent-gateway-example", "--once", user=1000)
        answered = time.monotonic()
        require("Garage Nine" in said and "opt_auto.book_ac_service." in said, f"no option in the first search:\n{said}")
        print(f"   installed in {installed - began:.1f} s, first search answered {answered - installed:.1f} s later")

        version = root.run("intent-gateway", "--version")
        features = next(line for line in version.splitlines() if line.startswith("features"))
        require("author" not in features, f"what serves has the author's commands: {version}")
        require("intent-gateway-author" in root.run("intent-gateway", "plugin", "new", "home.fix", code=2), "not told where they are")
        root.run("intent-gateway", "config", "check", "--config", "/etc/intent-gateway/gateway.toml")
        one(path / "usr/share/man/man1", "intent-gateway-search.1*")

        keys = sorted(os.listdir(path / KEYS))
        require(keys == ["master-key", "reference-key", "signing-key"], f"the keys are {keys}")
        before = [read(root, f"{KEYS}/{key}") for key in keys]
        require(len(set(before)) == 3 and all(len(key) == 64 for key in before), "the keys are not three of 32 bytes")
        for key in keys:
            status = (path / KEYS / key).stat()
            require(status.st_mode & 0o777 == 0o640 and status.st_gid != 0, f"{key} may be read by {oct(status.st_mode)}, {status.st_gid}")
        contract = one(path / "etc/intent-gateway/contracts", "*yoga*.wasm")
        contract.unlink()

        root.run("dpkg", "--install", "/tmp/gateway.deb")
        require([read(root, f"{KEYS}/{key}") for key in keys] == before, "an upgrade has made other keys")
        require(not contract.exists(), "an upgrade has put a contract back that was taken out")

        root.run("dpkg", "--install", "/tmp/author.deb")
        root.run("intent-gateway-author", "plugin", "inspect", "/usr/share/intent-gateway/contracts/auto-book-ac-service.wasm", user=1000)

        (path / STATE).mkdir(parents=True, exist_ok=True)
        (path / STATE / "ledger").write_text("kept")
        root.run("dpkg", "--purge", "intent-gateway")
        require(not (path / "etc/intent-gateway").exists(), "a purge leaves configuration behind")
        require((path / STATE / "ledger").exists(), "a purge takes the ledger")


def blob(archive, digest):
    algorithm, name = digest.split(":")
    data = archive.extractfile(f"blobs/{algorithm}/{name}").read()
    require(hashlib.sha256(data).hexdigest() == name, f"{digest} is not what its name says")
    return data


def try_image(files, folder):
    """Unpacks the image as a runtime does, and serves from it as its user, with nothing but its state to write to."""
    path = folder / "image"
    path.mkdir()
    with tarfile.open(one(files, "*-oci.tar")) as archive:
        index = json.load(archive.extractfile("index.json"))
        manifest = json.loads(blob(archive, index["manifests"][0]["digest"]))
        config = json.loads(blob(archive, manifest["config"]["digest"]))
        require(len(manifest["layers"]) == 1, "the image has one layer")
        layer = folder / "layer.tar.gz"
        layer.write_bytes(blob(archive, manifest["layers"][0]["digest"]))
    subprocess.run(["tar", "--extract", "--gzip", "--numeric-owner", "--file", layer, "--directory", path], check=True)
    unpacked = hashlib.sha256(subprocess.run(["gzip", "--decompress", "--stdout", layer], check=True, capture_output=True).stdout)
    require(config["rootfs"]["diff_ids"] == [f"sha256:{unpacked.hexdigest()}"], "the layer is not the one that the image names")
    run = config["config"]
    require(run["User"] == f"{IMAGE_USER}:{IMAGE_USER}", f"it runs as {run['User']}")
    require(not list(path.glob("bin/*sh")) and not list(path.glob("usr/bin/*sh")), "the image has a shell")
    environment = dict(entry.split("=", 1) for entry in run["Env"])
    # A port of its own: others may listen here.
    environment["INTENT_GATEWAY__SERVER__LISTEN"] = "127.0.0.1:0"
    environment["INTENT_GATEWAY__SERVER__DRAIN_ANNOUNCE_MS"] = "0"
    with mounted(path) as root:
        began = time.monotonic()
        server = root.start(*run["Entrypoint"], *run["Cmd"], user=IMAGE_USER, environment=environment)
        try:
            line = server.stdout.readline()
            while line and not line.startswith("listening on "):
                line = server.stdout.readline()
            require(line, "the image's gateway does not listen")
            address = line.removeprefix("listening on ").strip()
            print(f"   the image's gateway listens after {time.monotonic() - began:.2f} s")
            check = [*run["Healthcheck"]["Test"][1:], "--gateway", address]
            require(root.run(*check, user=IMAGE_USER).strip() == "live", "the health check of the image")
        finally:
            server.terminate()
            said, _ = server.communicate(timeout=60)
        require(server.returncode == 0, f"the image's gateway ended with {server.returncode}:\n{said[-2000:]}")
    written = sorted(str(found.relative_to(path)) for found in path.rglob("*") if found.is_file() and found.stat().st_uid == IMAGE_USER)
    require(written and all(name.startswith(STATE) for name in written), f"it has written to {written}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    files, debian = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="intent-gateway-package-") as folder:
        try:
            try_packages(files, debian, pathlib.Path(folder))
            print("ok     the packages on a bare Debian")
            try_image(files, pathlib.Path(folder))
            print("ok     the image")
        except Failed as failed:
            sys.exit(f"error: {failed}")


if __name__ == "__main__":
    main()
