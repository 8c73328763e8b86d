"""A PostgreSQL server in a folder of its own on loopback, for tests: started, killed, hung, and started again. It refuses to be root's: then it is nobody's."""

import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path


def programs():
    """The folder of its programs; None where there is none."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: float(path.split("/")[4])) or [shutil.which("initdb") or ""]
    folder = Path(folders[-1]) if folders[-1].endswith("bin") else Path(folders[-1]).parent
    return str(folder) if all((folder / name).exists() for name in ("initdb", "postgres", "psql")) else None


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self, *settings, password=None):
        """With a password, gale's role needs it."""
        self.folder = tempfile.mkdtemp(prefix="gale-postgres-")
        self.data = f"{self.folder}/data"
        self.bin = programs()
        self.port = free_port()
        self.hung = []
        self.as_user = []
        if os.geteuid() == 0:
            self.as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
            shutil.chown(self.folder, "nobody", "nogroup")
        self.run("initdb", "-D", self.data, "-U", "gale", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
        with open(f"{self.data}/postgresql.conf", "a") as conf:
            for one in ("fsync=off", "listen_addresses='127.0.0.1'", f"unix_socket_directories='{self.folder}'", f"port={self.port}",
                        "wal_level=logical", "max_wal_senders=8", "max_replication_slots=8", "shared_buffers=32MB", *settings):
                conf.write(one + "\n")
        self.start()
        self.sql("CREATE DATABASE shop")
        if password:
            self.sql(f"ALTER ROLE gale PASSWORD '{password}'")
            rules = Path(f"{self.data}/pg_hba.conf")
            rules.write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\nhost replication all 127.0.0.1/32 scram-sha-256\n")
            self.sql("SELECT pg_reload_conf()")

    def run(self, program, *arguments):
        done = subprocess.run([*self.as_user, f"{self.bin}/{program}", *arguments], capture_output=True, text=True, cwd=self.folder, timeout=120)
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")
        return done.stdout

    def start(self):
        end = time.monotonic() + 60
        while True:
            with open(f"{self.folder}/log", "a") as log:
                self.process = subprocess.Popen([*self.as_user, f"{self.bin}/postgres", "-D", self.data], stdout=log, stderr=log, cwd=self.folder)
            while self.process.poll() is None and time.monotonic() < end:
                if subprocess.run([f"{self.bin}/pg_isready", "-q", "-h", self.folder, "-p", str(self.port)]).returncode == 0:
                    return
                time.sleep(0.02)
            if time.monotonic() > end:  # one that was killed leaves processes that end by themselves
                raise RuntimeError(Path(f"{self.folder}/log").read_text()[-2000:])
            time.sleep(0.1)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def family(self):
        """The server's processes: each of its sessions is one."""
        pids = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        return [self.process.pid, *map(int, pids)]

    def hang(self):
        """The first of them stands before the others are looked for: it makes no more."""
        self.process.send_signal(signal.SIGSTOP)
        self.hung = self.family()
        self.tell(signal.SIGSTOP)

    def go_on(self):
        self.tell(signal.SIGCONT)
        self.hung = []

    def tell(self, what):
        for pid in self.hung:
            try:
                os.kill(pid, what)
            except ProcessLookupError:  # a session that has ended meanwhile
                pass

    def sql(self, text, database=None):
        """Rows as lists of texts."""
        out = self.run("psql", "-h", self.folder, "-p", str(self.port), "-U", "gale", "-d", database or "postgres", "-X", "-q", "-A", "-t", "-F", "\t",
                       "-v", "ON_ERROR_STOP=1", "-c", text)
        return [line.split("\t") for line in out.splitlines()]

    def connection(self, **more):
        words = {"host": "127.0.0.1", "port": self.port, "dbname": "shop", "user": "gale", **more}
        return " ".join(f"{name}={value}" for name, value in words.items())

    def close(self):
        self.go_on()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
