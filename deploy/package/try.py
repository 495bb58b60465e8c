#!/usr/bin/env python3
"""Installs what `cargo xtask release` has made on a bare Debian, and uses it.

    python3 deploy/package/try.py FILES DEBIAN

FILES is the folder with the packages and the image, DEBIAN an archive of a bare Debian (`mmdebstrap --variant=minbase
--include=ca-certificates bookworm FILE`). It needs root, for the Debian is a folder that is changed into. Nothing outside of a folder
of its own is written.
"""

import contextlib
import gzip
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
RUNTIME = shutil.which("runc") or shutil.which("crun")


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


def unpack_image(files, path):
    """Unpacks the image into a folder, as a runtime does; how it is to be run."""
    path.mkdir(parents=True)
    with tarfile.open(one(files, "*-oci.tar")) as archive:
        index = json.load(archive.extractfile("index.json"))
        manifest = json.loads(blob(archive, index["manifests"][0]["digest"]))
        config = json.loads(blob(archive, manifest["config"]["digest"]))
        require(len(manifest["layers"]) == 1, "the image has one layer")
        layer = blob(archive, manifest["layers"][0]["digest"])
    subprocess.run(["tar", "--extract", "--gzip", "--numeric-owner", "--directory", path], input=layer, check=True)
    unpacked = hashlib.sha256(gzip.decompress(layer)).hexdigest()
    require(config["rootfs"]["diff_ids"] == [f"sha256:{unpacked}"], "the layer is not the one that the image names")
    return config["config"]


def try_image(files, folder):
    """Serves from the image as its user, with nothing but its state to write to."""
    path = folder / "image"
    run = unpack_image(files, path)
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


def specify(run, state):
    """What a runtime is told: the image's own user, program and environment, and as few rights as there are."""
    subprocess.run([RUNTIME, "spec", "--bundle", state.parent], check=True)
    specification = json.loads((state.parent / "config.json").read_text())
    process = specification["process"]
    none = {name: [] for name in process["capabilities"]}
    # Without keys of its own a gateway takes requests of its own machine alone, which is what the container is to it.
    environment = [*run["Env"], "INTENT_GATEWAY__SERVER__LISTEN=127.0.0.1:8080"]
    user = {"uid": IMAGE_USER, "gid": IMAGE_USER}
    process.update(terminal=False, args=[*run["Entrypoint"], *run["Cmd"]], env=environment, user=user, capabilities=none)
    process["noNewPrivileges"] = True
    specification["root"]["readonly"] = True
    specification["mounts"].append({"destination": f"/{STATE}", "type": "bind", "source": str(state), "options": ["bind", "rw", "nosuid", "nodev"]})
    return specification


def try_container(files, folder):
    """Runs the image as a container: a read-only root, no capability, a network of its own. Whether there was a runtime to do so."""
    bundle = folder / "bundle"
    run = unpack_image(files, bundle / "rootfs")
    state = bundle / "state"
    state.mkdir()
    os.chown(state, IMAGE_USER, IMAGE_USER)
    specification = specify(run, state)
    name = f"intent-gateway-try-{os.getpid()}"
    runtime = [RUNTIME, "--root", str(folder / "runtime")]

    def start_container(process):
        (bundle / "config.json").write_text(json.dumps(specification | {"process": specification["process"] | process}))
        return subprocess.Popen([*runtime, "run", "--bundle", bundle, name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    first = start_container({"args": [*run["Entrypoint"], "--version"]})
    said, _ = first.communicate(timeout=60)
    if first.returncode != 0 and "version" not in said:
        print(f"   this machine lets {RUNTIME} run no container: {said.strip().splitlines()[-1:]}")
        return False
    began = time.monotonic()
    server = start_container({})
    try:
        lines = [server.stdout.readline()]
        while lines[-1] and not lines[-1].startswith("listening on "):
            lines.append(server.stdout.readline())
        require(lines[-1], f"the container's gateway does not listen:\n{''.join(lines)[-2000:]}")
        print(f"   the container's gateway listens after {time.monotonic() - began:.2f} s")
        check = subprocess.run([*runtime, "exec", name, *run["Healthcheck"]["Test"][1:]], capture_output=True, text=True, check=False)
        require(check.stdout.strip() == "live", f"the health check of the container: {check.stdout}{check.stderr}")
        subprocess.run([*runtime, "kill", name, "TERM"], check=True)
        said, _ = server.communicate(timeout=60)
    finally:
        subprocess.run([*runtime, "delete", "--force", name], capture_output=True, check=False)
    require(server.returncode == 0, f"the container's gateway ended with {server.returncode}:\n{said[-2000:]}")
    require((state / "gateway.db").is_file(), "the container's gateway has kept nothing in its state")
    return True


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
            if RUNTIME is None:
                print("   no container was run: runc is missing (Debian: apt-get install runc)")
            elif try_container(files, pathlib.Path(folder)):
                print("ok     the image as a container")
        except Failed as failed:
            sys.exit(f"error: {failed}")


if __name__ == "__main__":
    main()
