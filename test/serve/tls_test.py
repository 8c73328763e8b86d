#!/usr/bin/env python3
"""Other machines: TLS with a certificate of one's own, and a token from a file; nothing less opens such a door.

usage: tls_test.py GALE OPENSSL
"""

import http.client
import ssl
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import rig

rig.Case.gale = GALE = str(Path(sys.argv[1]).resolve())
OPENSSL = sys.argv[2]
TOKEN = "a-token-of-ones-own-0123"


class Tls(rig.Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.certificate, cls.key = (str(Path(cls.folder.name) / name) for name in ("cert.pem", "key.pem"))
        subprocess.run([OPENSSL, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", cls.key,
                        "-out", cls.certificate, "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
        cls.token_file = str(Path(cls.folder.name) / "token")
        Path(cls.token_file).write_text(TOKEN + "\nwhat else stands there\n")

    def options(self, *more):
        return ["--listen-cert", self.certificate, "--listen-key", self.key, *more]

    def secure(self, run):
        context = ssl.create_default_context(cafile=self.certificate)
        return http.client.HTTPSConnection("127.0.0.1", run.port, timeout=rig.PATIENCE, context=context)

    def refuse(self, *options):
        done = subprocess.run([GALE, "run", "served.yaml", *options], cwd=self.path(), capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def path(self):
        (Path(self.folder.name) / "served.yaml").write_text(rig.WORDS.format(config="a: 1"))
        (Path(self.folder.name) / "in.txt").write_text("a\n")
        return self.folder.name

    def test_it_answers_by_tls_alone(self):
        run = self.run_words(*self.options())
        self.assertTrue(run.url.startswith("https://127.0.0.1:"))
        self.assertEqual(run.json("/api/gale/v1/topology", connection=self.secure(run))["name"], "served")
        self.assertNotIn(b"200", run.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", shut=True)[:20])
        rig.until(lambda: run.ask("/healthz", connection=self.secure(run))[0] == 200, "its health")  # which it has when all is open

    def test_its_cookie_is_for_tls_alone(self):
        run = self.run_words(*self.options())
        headers = run.ask(run.url[run.url.index("/?"):], connection=self.secure(run), token=False)[1]
        self.assertIn("; Secure", headers["Set-Cookie"])

    def test_a_token_from_a_file_lasts_and_is_not_printed(self):
        run = self.run_words("--listen-token-file", self.token_file)
        self.assertNotIn(TOKEN, run.text())
        self.assertEqual(run.ask("/api/gale/v1/now", headers={"Authorization": "Bearer " + TOKEN}, token=False)[0], 200)
        self.assertEqual(run.ask("/api/gale/v1/now", token=False)[0], 401)

    def test_others_than_this_machine_need_all_of_it(self):
        for options in [], self.options(), ["--listen-token-file", self.token_file]:
            self.assertIn("that needs --listen-token-file, --listen-cert and --listen-key", self.refuse("--listen", "0.0.0.0:0", *options))
        run = rig.Run(self, GALE, rig.WORDS.format(config="a: 1"), "--listen", "*:0", *self.options("--listen-token-file", self.token_file),
                      listen=False)
        run.url = rig.until(lambda: run.find(r"https://\S+"), "the address")
        run.port, run.token = int(run.url.rstrip("/").rpartition(":")[2]), TOKEN
        self.assertEqual(run.json("/api/gale/v1/topology", connection=self.secure(run))["name"], "served")

    def test_what_is_no_certificate_or_no_token(self):
        empty = Path(self.folder.name) / "empty"
        empty.write_text("")
        self.assertIn("are they PEM, and of each other?",
                      self.refuse("--listen", ":0", "--listen-cert", self.key, "--listen-key", self.certificate))
        self.assertIn("has no token in its first line", self.refuse("--listen", ":0", "--listen-token-file", str(empty)))
        for text in "short", "with spaces in it, and long", "\x00" * 20:
            empty.write_text(text)
            self.assertIn("has no token", self.refuse("--listen", ":0", "--listen-token-file", str(empty)))
        self.assertIn("none", self.refuse("--listen", ":0", "--listen-token-file", "none"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
