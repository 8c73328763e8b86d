"""A RabbitMQ server in a folder of its own on loopback, for tests: started, killed, hung, and started again."""

import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import amqp


def programs():
    """The folder of its programs; None where there is none. What is on the path becomes another user."""
    folders = sorted(glob.glob("/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin"))
    return folders[-1] if folders else None


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self, tls=None, user="guest", password="guest"):
        """user: the one that it has. tls: a folder with ca.pem, server.pem and server.key, for the port tls_port."""
        for left in reversed(range(5)):  # another process may take a free port before the server does
            self.make(tls, user, password)
            try:
                self.start()
                return
            except RuntimeError as error:
                self.close()
                if not left or not re.search("already_used|eaddrinuse", str(error)):
                    raise

    def make(self, tls, user, password):
        self.folder = tempfile.mkdtemp(prefix="gale-rabbitmq-")
        self.bin, self.user, self.password = programs(), user, password
        self.port, self.tls_port, distribution, epmd_port = free_port(), free_port(), free_port(), free_port()
        self.node = f"gale{self.port}@localhost"
        config = [f"listeners.tcp.1 = 127.0.0.1:{self.port}", "log.file.level = info", "vm_memory_high_watermark.absolute = 2GB",
                  "disk_free_limit.absolute = 1MB", "collect_statistics_interval = 1000", f"default_user = {user}",
                  f"default_pass = {password}"]
        if tls:
            config += [f"listeners.ssl.1 = 127.0.0.1:{self.tls_port}", f"ssl_options.cacertfile = {tls}/ca.pem",
                       f"ssl_options.certfile = {tls}/server.pem", f"ssl_options.keyfile = {tls}/server.key",
                       "ssl_options.verify = verify_peer", "ssl_options.fail_if_no_peer_cert = true"]
        Path(f"{self.folder}/rabbitmq.conf").write_text("\n".join(config) + "\n")
        Path(f"{self.folder}/enabled_plugins").write_text("[].\n")
        self.environment = {
            **os.environ, "HOME": self.folder, "RABBITMQ_NODENAME": self.node, "RABBITMQ_BASE": self.folder,
            "RABBITMQ_MNESIA_BASE": f"{self.folder}/mnesia", "RABBITMQ_LOG_BASE": f"{self.folder}/log",
            "RABBITMQ_CONFIG_FILE": f"{self.folder}/rabbitmq.conf", "RABBITMQ_ENABLED_PLUGINS_FILE": f"{self.folder}/enabled_plugins",
            "RABBITMQ_CONF_ENV_FILE": f"{self.folder}/none", "RABBITMQ_DIST_PORT": str(distribution), "RABBITMQ_PID_FILE": f"{self.folder}/pid",
            "ERL_EPMD_PORT": str(epmd_port), "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 -kernel inet_dist_use_interface {127,0,0,1}", "LC_ALL": "C.UTF-8",
        }
        # Its own: one that a node starts stays behind when that is killed.
        self.epmd = subprocess.Popen(["epmd"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        with open(f"{self.folder}/out", "a") as out:
            self.process = subprocess.Popen([f"{self.bin}/rabbitmq-server"], stdout=out, stderr=out, cwd=self.folder, env=self.environment,
                                            start_new_session=True)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            try:
                self.connect().close()
                return
            except (OSError, amqp.Closed):
                time.sleep(0.1)
        raise RuntimeError(Path(f"{self.folder}/out").read_text()[-3000:])

    def connect(self, **more):
        return amqp.Connection(self.port, **{"user": self.user, "password": self.password, **more})

    def url(self, vhost=""):
        return f"amqp://127.0.0.1:{self.port}/{vhost}"

    def control(self, *arguments):
        done = subprocess.run([f"{self.bin}/rabbitmqctl", "-n", self.node, *arguments], env=self.environment, capture_output=True, text=True,
                              cwd=self.folder, timeout=120)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        return done.stdout

    def signal(self, number):
        os.killpg(self.process.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def hang(self):
        self.signal(signal.SIGSTOP)

    def go_on(self):
        self.signal(signal.SIGCONT)

    def close(self):
        if self.process.poll() is None:
            self.kill()
        self.epmd.kill()
        self.epmd.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
