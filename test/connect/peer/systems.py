"""The systems of rates.py: each with its server, how many messages it holds, and what gale and the peer are told to write to it and to read from it."""

import importlib.util
import sys
from pathlib import Path

CONNECT = Path(__file__).resolve().parents[1]
OPEN = 1000  # messages that may be on their way, with both


def load(folder, name):
    """The module of another connector's tests, under a name of its own."""
    sys.path.append(str(CONNECT / folder))
    spec = importlib.util.spec_from_file_location(f"{folder}_{name}", CONNECT / folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gale(name, spout, bolt):
    """A topology of a spout and a bolt, each a class with its properties."""
    component = lambda id, kind, given: f"  - id: {id}\n    className: gale.{kind}\n    properties:\n" + "".join(f"      {key}: {text}\n" for key, text in given.items())
    return (f"name: {name}\nconfig: {{topology.message.timeout.secs: 3600}}\nspouts:\n{component('in', *spout)}bolts:\n{component('out', *bolt)}"
            "streams: [{from: in, to: out, grouping: {type: SHUFFLE}}]\n")


def peer(http, source, sink):
    return f"http: {{address: '127.0.0.1:{http}'}}\nmetrics: {{json_api: {{}}}}\nlogger: {{level: ERROR}}\ninput:\n  {source}\noutput:\n  {sink}\n"


GALE_FILE = ("spout.File", {"path": "in.txt"})
PEER_FILE = "file: {paths: [in.txt], scanner: {lines: {}}}"
PEER_DROP = "drop: {}"


class System:
    """A server of its own. `who` is gale or peer: each has a place of its own there."""

    ends_by_itself = True  # gale's reader, when there is nothing left

    def close(self):
        self.server.close()


class RabbitMQ(System):
    """Durable queues, persistent messages, each confirmed, each acked."""

    def __init__(self):
        self.server = load("rabbitmq", "server").Server()
        with self.server.connect() as client:
            for who in ("gale", "peer"):
                client.queue(who)

    def held(self, who):
        with self.server.connect() as client:
            return client.depth(who)

    def texts(self, who, http):
        url = self.server.url()
        login = url.replace("//", "//guest:guest@")
        if who == "gale":
            return (gale("out", GALE_FILE, ("bolt.RabbitMQSink", {"url": url, "routingKey": who, "inFlight": OPEN})),
                    gale("in", ("spout.RabbitMQ", {"url": url, "queue": who, "prefetch": OPEN, "untilEmpty": "true"}), ("bolt.Null", {})))
        return (peer(http, PEER_FILE, f"amqp_0_9: {{urls: ['{login}'], exchange: '', key: {who}, persistent: true, max_in_flight: {OPEN}}}"),
                peer(http, f"amqp_0_9: {{urls: ['{login}'], queue: {who}, prefetch_count: {OPEN}}}", PEER_DROP))


class Redis(System):
    """Streams, by TCP; a group's reader, each acked; entries are read by 1000. The peer writes batches of 1000, or of 100 ms."""

    def __init__(self):
        self.server = load("redis", "server").Server()
        for who in ("gale", "peer"):
            self.server("XGROUP", "CREATE", who, "g", "0", "MKSTREAM")

    def held(self, who):
        """What the group has not had, and what it has not acked."""
        group = self.server("XINFO", "GROUPS", who)[0]
        told = dict(zip(group[::2], group[1::2]))
        return told["lag"] + told["pending"]

    def texts(self, who, http):
        at = f"127.0.0.1:{self.server.port}"
        if who == "gale":
            return (gale("out", GALE_FILE, ("bolt.RedisSink", {"server": at, "command": "XADD", "key": who, "inFlight": OPEN})),
                    gale("in", ("spout.RedisStream", {"server": at, "streams": f"[{who}]", "group": "g", "fields": "[line]", "untilEnd": "true"}), ("bolt.Null", {})))
        batching = "batching: {count: 1000, period: 100ms}"
        return (peer(http, PEER_FILE, f"redis_streams: {{url: 'tcp://{at}', stream: {who}, body_key: line, metadata: {{exclude_prefixes: ['']}}, {batching}}}"),
                peer(http, f"redis_streams: {{url: 'tcp://{at}', streams: [{who}], body_key: line, consumer_group: g, client_id: one, limit: 1000}}", PEER_DROP))


class Nats(System):
    """Streams in files; each message confirmed, each acked. gale makes no ids, as the peer makes none."""

    def __init__(self):
        self.module = load("nats", "server")
        self.server = self.module.Server()
        with self.module.Client(self.server) as client:
            for who in ("gale", "peer"):
                client.make_stream(who, f"{who}.a")

    def held(self, who):
        with self.module.Client(self.server) as client:
            messages = client.state(who)["messages"]
            try:
                found = client.consumer(who, f"{who}-reader")
            except KeyError:  # nobody has read
                return messages
            return found["num_pending"] + found["num_ack_pending"]

    def texts(self, who, http):
        url = self.server.url
        if who == "gale":
            return (gale("out", GALE_FILE, ("bolt.NatsSink", {"servers": f"['{url}']", "subject": f"{who}.a", "makeIds": "false", "inFlight": OPEN})),
                    gale("in", ("spout.Nats", {"servers": f"['{url}']", "stream": who, "consumer": f"{who}-reader", "inFlight": OPEN, "untilEnd": "true"}), ("bolt.Null", {})))
        return (peer(http, PEER_FILE, f"nats_jetstream: {{urls: ['{url}'], subject: {who}.a, max_in_flight: {OPEN}}}"),
                peer(http, f"nats_jetstream: {{urls: ['{url}'], subject: {who}.a, durable: {who}-reader, max_ack_pending: {OPEN}}}", PEER_DROP))


class Mqtt(System):
    """QoS 1, a session that is kept. gale's reader has no end and writes to a file, whose size tells of it: that costs it more than the peer, which drops all."""

    ends_by_itself = False

    def __init__(self):
        self.module = load("mqtt", "broker")
        self.server = self.module.Broker(f"max_inflight_messages {OPEN}", "log_type none")
        for who in ("gale", "peer"):
            client = self.module.Client(self.server, who, version=4, clean=False)
            client.subscribe(f"{who}/#", 1)
            client.close()

    def held(self, who):
        return None  # a broker of MQTT does not say

    def texts(self, who, http):
        at = f"127.0.0.1:{self.server.port}"
        if who == "gale":
            return (gale("out", GALE_FILE, ("bolt.MqttSink", {"server": at, "topic": f"{who}/a", "clientId": "gale-out", "inFlight": OPEN})),
                    gale("in", ("spout.Mqtt", {"server": at, "topics": f"['{who}/#']", "clientId": who, "inFlight": OPEN}), ("bolt.FileSink", {"path": "out.txt"})))
        return (peer(http, PEER_FILE, f"mqtt: {{urls: ['tcp://{at}'], topic: {who}/a, qos: 1, client_id: peer-out, max_in_flight: {OPEN}}}"),
                peer(http, f"mqtt: {{urls: ['tcp://{at}'], topics: ['{who}/#'], qos: 1, client_id: {who}, clean_session: false}}", PEER_DROP))


SYSTEMS = {"RabbitMQ": RabbitMQ, "Redis": Redis, "MQTT": Mqtt, "NATS": Nats}
