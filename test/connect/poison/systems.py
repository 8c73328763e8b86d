"""What the tables of sinks and sources need of the systems' own fixtures: each is loaded under a name of its own, as several are called server.py."""

import importlib.util
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent


def load(path, name):
    """`path` below test/connect. What it imports lies in its folder."""
    file = FOLDER / path
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module


mosquitto = load("mqtt/broker.py", "poison_mosquitto")
nats = load("nats/server.py", "poison_nats")
rabbitmq = load("rabbitmq/server.py", "poison_rabbitmq")
redis = load("redis/server.py", "poison_redis")
postgres = load("postgres/server.py", "poison_postgres")
http = load("http/peer.py", "poison_http")
