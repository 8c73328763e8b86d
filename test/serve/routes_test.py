#!/usr/bin/env python3
"""/openapi.json is true: every route that it describes answers as it says, and nothing answers that it does not describe.

usage: routes_test.py GALE
"""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())
TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}

# What fits where a path has a name, or where a body is wanted.
NAMES = {"id": "served", "component": "split", "wait": "1", "percent": "50", "enable": "enable", "action": "start",
         "worker": "here:1", "timeout": "10"}
BODIES = {"/api/gale/v1/dead-letters/replay": {"all": True},
          "/api/gale/v1/log-level": {"level": "info"},
          "/api/gale/v1/set": {"component": "lines", "rate": 1000},
          "/api/v1/topology/{id}/logconfig": {"namedLoggerLevels": {"ROOT": {"target_level": "INFO"}}}}


def is_of(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name]) and not (name == "integer" and isinstance(value, bool))


def differences(value, schema, at=""):
    """Where a value is not what a schema says: of JSON Schema, as much as serve/shape.c writes."""
    if "oneOf" in schema:
        found = [list(differences(value, one, at)) for one in schema["oneOf"]]
        yield from min(found, key=len)
        return
    types = schema.get("type")
    if types is None:
        return
    types = types if isinstance(types, list) else [types]
    if not any(is_of(value, name) for name in types):
        yield f"{at or '.'}: {value!r} is no {' or '.join(types)}"
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from differences(item, schema["items"], f"{at}[{index}]")
    elif isinstance(value, dict):
        known, more = schema.get("properties", {}), schema["additionalProperties"]
        for key in schema.get("required", []):
            if key not in value:
                yield f"{at}.{key} is not there"
        for key, item in value.items():
            if key in known or more is not False:
                yield from differences(item, known.get(key, more), f"{at}.{key}")
            else:
                yield f"{at}.{key} is not described"


class Drawing(rig.Case):
    def test_the_topology_is_what_gale_graph_says_of_its_file(self):
        run = self.run_words()
        told = run.json("/api/gale/v1/topology")
        drawn = subprocess.run([self.gale, "graph", "served.yaml", "--json"], cwd=run.path, capture_output=True, check=True)
        for key, value in json.loads(drawn.stdout).items():
            self.assertEqual(told[key], value, key)


RELOAD = "/api/gale/v1/reload"


class Routes(rig.Case):
    def api(self, run):
        return run.json("/openapi.json")

    def ask_route(self, run, path, method, body):
        real = re.sub(r"\{(\w+)\}", lambda found: NAMES[found.group(1)], path)
        headers = {"Content-Type": "application/json"}
        return run.ask(real, method.upper(), json.dumps(body) if body is not None else None, headers)

    def check(self, run, path, method, described):
        def answered():  # 503 is: ask again
            said = self.ask_route(run, path, method, BODIES.get(path))
            return said if said[0] != 503 else None
        status, headers, text = rig.until(answered, f"an answer to {path}")
        good = 200 <= status < 300
        kind, content = next(iter(described["responses"]["200" if good else "default"]["content"].items()))
        self.assertTrue(headers["Content-Type"].startswith(kind), (path, headers["Content-Type"]))
        if kind == "application/json":
            self.assertEqual(list(differences(json.loads(text), content["schema"])), [], path)
        return status

    def check_all(self, run):
        api = self.api(run)
        rows = [(path, method, one) for path, methods in api["paths"].items() for method, one in methods.items()]
        statuses = {}
        for path, method, described in rows:
            if path.endswith(("/drain", "/restart", "/end")) or "/kill" in path or (method, path) == ("post", RELOAD):
                continue
            statuses[method, path] = self.check(run, path, method, described)
        return statuses

    def test_every_route_answers_as_it_is_described(self):
        run = self.run_words("--state", "state", lines=["a b c"] * 100, config="db.password: x")
        run.acked(100)
        statuses = self.check_all(run)
        refused = {path for (_, path), status in statuses.items() if status >= 400}
        self.assertEqual(refused, self.refused)

    def test_the_end_is_reported_to_all_who_wait_for_it(self):
        run = self.run_words()
        run.acked(1)
        answers = []
        for _ in range(3):
            connection = run.connect()
            self.addCleanup(connection.close)
            connection.request("GET", "/api/gale/v1/end", headers={"Authorization": f"Bearer {run.token}"})
            answers.append(connection.getresponse())
            self.assertEqual((answers[-1].status, answers[-1].getheader("Content-Type")), (200, "application/x-ndjson"))
            self.assertEqual(json.loads(answers[-1].readline()), {"ended": False})
        self.assertEqual(run.end(), 0)
        for answer in answers:
            lines = [json.loads(line) for line in answer.read().splitlines() if line]
            self.assertEqual(lines, [{"ended": True, "exit_code": 0}])

    # What is there to be refused with a sentence, or is not to be had of this run.
    refused = {"/api/gale/v1/dead-letters/replay",
               "/api/gale/v1/tap",
               "/api/v1/topology/{id}/rebalance/{wait}",
               "/api/v1/topology/{id}/profiling/{action}/{worker}",
               "/api/v1/topology/{id}/profiling/{action}/{worker}/{timeout}"}

    def test_and_so_do_those_that_change_it(self):
        run = self.run_words()
        described = self.api(run)["paths"]
        for path in RELOAD, "/api/gale/v1/restart":
            self.assertEqual(self.check(run, path, "post", described[path]["post"]), 202)
            while run.json(RELOAD)["state"] != "done":
                pass

    def test_and_so_do_those_that_end_it(self):
        for path in "/api/gale/v1/drain", "/api/gale/v1/kill", "/api/v1/topology/{id}/kill/{wait}":
            run = self.run_words()
            run.acked(1)
            described = self.api(run)["paths"][path]["post"]
            self.assertEqual(self.check(run, path, "post", described), 200)
            run.process.wait(rig.PATIENCE)

    def test_every_route_has_a_sentence(self):
        run = self.run_words()
        for path, methods in self.api(run)["paths"].items():
            for method, one in methods.items():
                self.assertRegex(one["summary"], r"^[A-Z0-9].*\.$", path)
                for parameter in one["parameters"]:
                    if parameter["in"] == "query":
                        self.assertTrue(parameter["description"], path)

    def test_the_judge_sees_what_differs(self):
        schema = {"type": "object", "properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "array", "items": {"type": "string"}}},
                  "required": ["a", "b"], "additionalProperties": False}
        self.assertEqual(list(differences({"a": 1, "b": ["x"]}, schema)), [])
        self.assertEqual(list(differences({"a": None, "b": []}, schema)), [])
        for wrong in {"a": True, "b": []}, {"a": 1}, {"a": 1, "b": [1]}, {"a": 1, "b": [], "c": 1}, [], {"a": 1.5, "b": []}:
            self.assertNotEqual(list(differences(wrong, schema)), [], wrong)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
