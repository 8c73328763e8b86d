"""A mosquitto in a folder of its own on loopback, for tests: started, killed, hung, and started again; and a client of its own, by paho."""

import contextlib
import os
import queue
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's python3-paho-mqtt, whatever Python this is
try:
    import paho.mqtt.client as paho
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties
except ImportError:
    paho = None

PROGRAM = shutil.which("mosquitto") or ("/usr/sbin/mosquitto" if os.path.exists("/usr/sbin/mosquitto") else None)


def is_there():
    return bool(PROGRAM and paho)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Broker:
    def __init__(self, *settings, persistence=False, password=None, tls=None):
        """With a password, the user `gale` needs it. With persistence each change is on the disk before the next packet is read. `tls`: files of a certificate and its key."""
        self.folder = tempfile.mkdtemp(prefix="gale-mosquitto-")
        self.port = free_port()
        lines = ["per_listener_settings false", f"listener {self.port} 127.0.0.1", "log_dest stderr", *([] if "log_type none" in settings else ["log_type all"]), "max_queued_messages 0"]
        if password:
            subprocess.run(["mosquitto_passwd", "-b", "-c", f"{self.folder}/users", "gale", password], check=True, capture_output=True)
            lines += [f"password_file {self.folder}/users"]
        else:
            lines += ["allow_anonymous true"]
        if persistence:
            lines += ["persistence true", f"persistence_location {self.folder}/", "autosave_on_changes true", "autosave_interval 1"]
        if tls:
            lines += [f"certfile {tls[0]}", f"keyfile {tls[1]}"]
        if os.geteuid() == 0:
            lines += ["user root"]
        Path(f"{self.folder}/conf").write_text("\n".join([*lines, *settings]) + "\n")
        self.start()

    def start(self):
        with open(f"{self.folder}/log", "a") as log:
            self.process = subprocess.Popen([PROGRAM, "-c", f"{self.folder}/conf"], stdout=log, stderr=log, cwd=self.folder)
        end = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(self.log()[-2000:])
                time.sleep(0.02)

    def log(self):
        return Path(f"{self.folder}/log").read_text(errors="replace")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def hang(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Between:
    """A port that leads to the broker, until it is cut: connections end in the middle of what they say."""

    def __init__(self, broker):
        self.to, self.sockets, self.listener = broker.port, [], socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                near = self.listener.accept()[0]
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                return
            self.sockets += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(one, other), daemon=True).start()

    @staticmethod
    def carry(one, other):
        try:
            while data := one.recv(4096):
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        """With what is on its way lost (RST)."""
        sockets, self.sockets = self.sockets, []
        for one in sockets:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def close(self):
        with contextlib.suppress(OSError):  # wakes the thread that accepts: else it would take from whoever gets this descriptor next
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.cut()


class Client:
    """Publishes and hears. What it heard is in `messages`, in order."""

    def __init__(self, broker, name="", version=5, password=None, clean=True):
        five = version == 5
        self.client = paho.Client(name, protocol=paho.MQTTv5 if five else paho.MQTTv311, **({} if five else {"clean_session": clean}))
        self.messages = []
        self.ready = queue.Queue()
        self.client.on_message = lambda client, user, message: self.messages.append(message)
        self.client.on_connect = lambda *_: self.ready.put("connected")
        self.client.on_subscribe = lambda *_: self.ready.put("subscribed")
        self.client.max_inflight_messages_set(20)
        if password:
            self.client.username_pw_set("gale", password)
        more = {}
        if five:
            more["clean_start"] = clean
            if not clean:
                more["properties"] = Properties(PacketTypes.CONNECT)
                more["properties"].SessionExpiryInterval = 3600
        self.client.connect("127.0.0.1", broker.port, **more)
        self.client.loop_start()
        assert self.ready.get(timeout=20) == "connected"

    def subscribe(self, topic, qos=2):
        self.client.subscribe(topic, qos)
        assert self.ready.get(timeout=20) == "subscribed"
        return self

    def publish(self, topic, payload, qos=1, retain=False, **properties):
        """Until the broker has it."""
        more = {}
        if properties:
            more["properties"] = Properties(PacketTypes.PUBLISH)
            for key, value in properties.items():
                setattr(more["properties"], key, value)
        self.client.publish(topic, payload, qos, retain, **more).wait_for_publish(30)

    def publish_all(self, topic, payloads, qos=1):
        sent = [self.client.publish(topic, payload, qos) for payload in payloads]
        for one in sent:
            one.wait_for_publish(60)

    def texts(self):
        return [message.payload.decode() for message in self.messages]

    def close(self):
        self.client.disconnect()
        self.client.loop_stop()
