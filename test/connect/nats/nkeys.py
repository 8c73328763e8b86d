"""Keys and claims of NATS (nkeys, JWTs of operators, accounts and users), by openssl: what `nsc` makes, as little as a test needs."""

import base64
import json
import subprocess
from pathlib import Path

OPERATOR, ACCOUNT, USER, SEED = 14 << 3, 0, 20 << 3, 18 << 3


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


def text_of(raw):
    return base64.b32encode(raw + crc16(raw).to_bytes(2, "little")).decode().rstrip("=")


def base64url(raw):
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


class Key:
    def __init__(self, folder, name, kind):
        self.path = Path(folder) / f"{name}.ed25519"
        self.kind = kind
        self.openssl("genpkey", "-algorithm", "ed25519", "-out", self.path)
        self.public = text_of(bytes([kind]) + self.openssl("pkey", "-in", self.path, "-pubout", "-outform", "DER")[-32:])

    @staticmethod
    def openssl(*arguments):
        return subprocess.run(["openssl", *arguments], check=True, capture_output=True).stdout

    def seed(self):
        return text_of(bytes([SEED | self.kind >> 5, (self.kind & 31) << 3]) + self.openssl("pkey", "-in", self.path, "-outform", "DER")[-32:])

    def sign(self, data):
        message = self.path.with_suffix(".message")
        message.write_bytes(data)
        return base64url(self.openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.path, "-in", message))

    def claims(self, about, **nats):
        """A JWT: what this one says about that one."""
        parts = ({"typ": "JWT", "alg": "ed25519-nkey"}, {"jti": "gale", "iat": 1, "iss": self.public, "sub": about.public, "name": "gale", "nats": {"version": 2, **nats}})
        text = ".".join(base64url(json.dumps(part).encode()) for part in parts)
        return f"{text}.{self.sign(text.encode())}"


def credentials(jwt, seed):
    return (f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n")
