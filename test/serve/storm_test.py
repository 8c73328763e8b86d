#!/usr/bin/env python3
"""Storm's REST: every field that its UI's has, of Storm's type, and the figures of the input.

usage: storm_test.py GALE
"""

import json
import re
import sys
import unittest
from pathlib import Path

import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())

TEXT, COUNT, NUMBER, FLAG, ANY, NOTHING = "text", "count", "number", "flag", "any", "nothing"
DECIMAL = "a number in a string, with three decimals"
CHECKS = {
    TEXT: lambda v: isinstance(v, str),
    COUNT: lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0,
    NUMBER: lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    FLAG: lambda v: isinstance(v, bool),
    DECIMAL: lambda v: isinstance(v, str) and re.fullmatch(r"-?\d+\.\d{3}", v) is not None,
    ANY: lambda v: True,
    NOTHING: lambda v: v is None,
}


def fields(kind, names):
    return dict.fromkeys(names.split(), kind)


# What each answer has, written down from Storm's documents and its sources, and not from gale's: {name: type}; a list is of rows.
RESOURCES = fields(NUMBER, "requestedMemOnHeap requestedMemOffHeap requestedCpu")
SUMMARY = {**fields(TEXT, "id encodedId owner name status uptime stormVersion"),
           **fields(COUNT, "uptimeSeconds tasksTotal workersTotal executorsTotal replicationCount"), **RESOURCES,
           **fields(NUMBER, "requestedTotalMem assignedMemOnHeap assignedMemOffHeap assignedTotalMem assignedCpu"),
           **fields(ANY, "schedulerInfo topologyVersion")}
SUPERVISOR = {**fields(TEXT, "id host uptime version"), **fields(COUNT, "uptimeSeconds slotsTotal slotsUsed slotsFree"),
              **fields(NUMBER, "totalMem totalCpu usedMem usedCpu availMem availCpu"), "blacklisted": FLAG}
WORKER = {**fields(TEXT, "supervisorId host topologyId topologyName uptime workerLogLink owner"),
          **fields(COUNT, "port executorsTotal uptimeSeconds"),
          **fields(NUMBER, "assignedMemOnHeap assignedMemOffHeap assignedCpu"), "componentNumTasks": {"split": COUNT}}
COMMON = {**fields(COUNT, "executors tasks emitted transferred acked failed"), **RESOURCES,
          **fields(TEXT, "lastError errorHost errorWorkerLogLink"), **fields(ANY, "errorPort errorTime errorLapsedSecs")}
WINDOW = {**fields(TEXT, "window windowPretty"), **fields(COUNT, "emitted transferred acked failed")}
BOLT = {"executed": COUNT, **fields(DECIMAL, "executeLatency processLatency capacity")}
OUT, OUT_MEAN = [{"stream_id": TEXT, "value": COUNT}], [{"stream_id": TEXT, "value": DECIMAL}]
IN = [{"component_id": TEXT, "stream_id": TEXT, "value": COUNT}]
IN_MEAN = [{"component_id": TEXT, "stream_id": TEXT, "value": DECIMAL}]
EXECUTOR = {**fields(TEXT, "id uptime host workerLogLink"),
            **fields(COUNT, "uptimeSeconds port emitted transferred acked failed")}
PAGE = {**fields(TEXT, "id encodedId name componentType topologyId encodedTopologyId topologyStatus window windowHint eventLogLink user"),
        **fields(COUNT, "executors tasks"), **fields(FLAG, "debug profilingAndDebuggingCapable profileActionEnabled schedulerDisplayResource"),
        "samplingPct": NUMBER, "profilerActive": [], "componentErrors": [], **RESOURCES}

TABLE = {
    "cluster/summary": {**fields(TEXT, "user stormVersion"), "schedulerDisplayResource": FLAG,
                        **fields(COUNT, "supervisors topologies slotsTotal slotsUsed slotsFree executorsTotal tasksTotal"),
                        **fields(NUMBER, "totalMem totalCpu availMem availCpu fragmentedMem fragmentedCpu"),
                        **fields(DECIMAL, "memAssignedPercentUtil cpuAssignedPercentUtil")},
    "cluster/configuration": {"topology.message.timeout.secs": NUMBER, "topology.debug": FLAG},
    "nimbus/summary": {"nimbuses": [{**fields(TEXT, "host status version nimbusUpTime nimbusUpTimeSeconds nimbusLogLink"),
                                     "port": COUNT}]},
    "supervisor/summary": {"supervisors": [SUPERVISOR], "schedulerDisplayResource": FLAG},
    "supervisor?id=x": {"supervisors": [SUPERVISOR], "workers": [WORKER], "schedulerDisplayResource": FLAG},
    "owner-resources": {"owners": [{"owner": TEXT, **fields(COUNT, "totalTopologies totalExecutors totalWorkers totalTasks"),
                                    **fields(NUMBER, "totalMemoryUsage totalCpuUsage totalReqOnHeapMem totalReqOffHeapMem totalReqMem "
                                                     "totalReqCpu totalAssignedOnHeapMem totalAssignedOffHeapMem"),
                                    **fields(ANY, "memoryGuarantee cpuGuarantee isolatedNodes memoryGuaranteeRemaining "
                                                  "cpuGuaranteeRemaining")}], "schedulerDisplayResource": FLAG},
    "history/summary": {"topo-history": [TEXT]},
    "topology/summary": {"topologies": [SUMMARY], "schedulerDisplayResource": FLAG},
    "topology-workers/ID": {"hostPortList": [{"host": TEXT, "port": COUNT}], "logviewerPort": COUNT},
    "topology/ID": {**SUMMARY, "msgTimeout": COUNT, **fields(TEXT, "window windowHint user"), "debug": FLAG, "samplingPct": NUMBER,
                    "topologyStats": [{**WINDOW, "completeLatency": DECIMAL}],
                    "spouts": [{**COMMON, "spoutId": TEXT, "encodedSpoutId": TEXT, "completeLatency": DECIMAL}],
                    "bolts": [{**COMMON, **BOLT, "boltId": TEXT, "encodedBoltId": TEXT}], "workers": [WORKER],
                    "configuration": {"topology.message.timeout.secs": NUMBER}, "visualizationTable": [],
                    "schedulerDisplayResource": FLAG},
    "topology/ID/metrics": {"window": TEXT, "window-hint": TEXT,
                            "spouts": [{"id": TEXT, "emitted": OUT, "transferred": OUT, "acked": OUT, "failed": OUT,
                                        "complete_ms_avg": OUT_MEAN}],
                            "bolts": [{"id": TEXT, "emitted": OUT, "transferred": OUT, "acked": IN, "failed": IN,
                                       "process_ms_avg": IN_MEAN, "executed": IN, "executed_ms_avg": IN_MEAN}]},
    "topology/ID/component/lines": {**PAGE, "spoutSummary": [{**WINDOW, "completeLatency": DECIMAL}],
                                    "outputStats": [{"stream": TEXT, **fields(COUNT, "emitted transferred acked failed"),
                                                     "completeLatency": DECIMAL}],
                                    "executorStats": [{**EXECUTOR, "completeLatency": DECIMAL}]},
    "topology/ID/component/split": {**PAGE, "boltStats": [{**WINDOW, **BOLT}],
                                    "inputStats": [{**fields(TEXT, "component encodedComponentId stream"),
                                                    **fields(COUNT, "executed acked failed"),
                                                    **fields(DECIMAL, "executeLatency processLatency")}],
                                    "outputStats": [{"stream": TEXT, **fields(COUNT, "emitted transferred")}],
                                    "executorStats": [{**EXECUTOR, **BOLT}]},
    "topology/ID/lag": {},
    "topology/ID/visualization-init": {"visualizationTable": [[{"stream": TEXT, "sani-stream": TEXT, "checked": FLAG}]]},
    "topology/ID/visualization": {"split": {":type": TEXT, ":capacity": NUMBER, ":latency": NUMBER, ":transferred": {"default": COUNT},
                                            ":link": TEXT,
                                            ":stats": [{":host": TEXT, ":port": COUNT, ":uptime_secs": COUNT, ":transferred": ANY}],
                                            ":inputs": [{":component": TEXT, ":stream": TEXT, ":sani-stream": TEXT,
                                                         ":grouping": TEXT}]}},
    "topology/ID/logconfig": {"namedLoggerLevels": ANY},
}


def lacks(value, wanted, at=""):
    """What is not as it is wanted."""
    if isinstance(wanted, dict):
        for key, kind in wanted.items():
            if not isinstance(value, dict) or key not in value:
                yield f"{at}.{key} is not there"
            else:
                yield from lacks(value[key], kind, f"{at}.{key}")
    elif isinstance(wanted, list):
        if not isinstance(value, list) or (wanted and not value):
            yield f"{at} is no list, or an empty one"
        else:
            for index, row in enumerate(value if wanted else []):
                yield from lacks(row, wanted[0], f"{at}[{index}]")
    elif not CHECKS[wanted](value):
        yield f"{at}: {value!r} is no {wanted}"


class Storm(rig.Case):
    def started(self, *options, **more):
        run = self.run_words(*options, lines=["a b c"] * 40, **more)
        run.acked(40)
        run.id = run.json("/api/v1/topology/summary")["topologies"][0]["id"]
        return run

    def get(self, run, path):
        return run.json("/api/v1/" + path.replace("ID", run.id))

    def test_every_field_is_there_and_of_storms_type(self):
        run = self.started()
        for path, wanted in TABLE.items():
            with self.subTest(path):
                self.assertEqual(list(lacks(self.get(run, path), wanted)), [])

    def test_the_id_is_storms_and_the_name_does_as_well(self):
        run = self.started()
        self.assertRegex(run.id, r"^served-1-\d{10}$")
        self.assertEqual(run.json("/api/v1/topology/served")["id"], run.id)
        status, _, text = run.ask("/api/v1/topology/other-1-2")
        self.assertEqual((status, json.loads(text)["error"]), (404, "Not Found"))
        self.assertEqual(run.ask(f"/api/v1/topology/{run.id}/component/other")[0], 404)

    def test_figures_are_those_of_the_input(self):
        run = self.started()
        page = self.get(run, "topology/ID")
        self.assertEqual((page["status"], page["tasksTotal"], page["workersTotal"], page["msgTimeout"]), ("ACTIVE", 5, 1, 30))
        self.assertEqual([row["window"] for row in page["topologyStats"]], ["600", "10800", "86400", ":all-time"])
        self.assertEqual([row["windowPretty"] for row in page["topologyStats"]], ["10m 0s", "3h 0m 0s", "1d 0h 0m 0s", "All time"])
        for row in page["topologyStats"]:
            self.assertEqual((row["emitted"], row["transferred"], row["acked"], row["failed"]), (40 + 120 + 120, 40 + 120, 40, 0))
        bolts = {row["boltId"]: row for row in page["bolts"]}
        self.assertEqual((bolts["count"]["executed"], bolts["count"]["tasks"], bolts["split"]["emitted"]), (120, 3, 120))
        self.assertEqual(page["spouts"][0]["acked"], 40)
        metrics = self.get(run, "topology/ID/metrics")
        self.assertEqual(metrics["spouts"][0]["emitted"], [{"stream_id": "default", "value": 40}])
        self.assertEqual(metrics["spouts"][0]["acked"], [{"stream_id": "default", "value": 40}])
        self.assertEqual(metrics["bolts"][0]["executed"], [{"component_id": "split", "stream_id": "default", "value": 120}])
        component = self.get(run, "topology/ID/component/count")
        self.assertEqual([(row["component"], row["executed"], row["acked"]) for row in component["inputStats"]], [("split", 120, 120)])
        self.assertEqual(sum(row["executed"] for row in component["executorStats"]), 120)
        self.assertEqual([row["id"] for row in component["executorStats"]], ["[1-1]", "[2-2]", "[3-3]"])

    def test_what_is_the_systems_is_told_when_it_is_asked_for(self):
        run = self.started()
        streams = lambda path: [row["stream"] for row in self.get(run, path)["outputStats"]]
        self.assertEqual(streams("topology/ID/component/lines"), ["default"])
        self.assertEqual(streams("topology/ID/component/lines?sys=1"), ["default", "__dead_letter"])

    def test_windows(self):
        run = self.started()
        page = self.get(run, "topology/ID?window=600")
        self.assertEqual((page["window"], page["windowHint"]), ("600", "10m 0s"))
        self.assertEqual(run.ask(f"/api/v1/topology/{run.id}?window=601")[0], 400)

    def test_deeds(self):
        run = self.started()
        post = lambda path: run.json(f"/api/v1/topology/{run.id}/{path}", "POST")
        self.assertEqual(post("deactivate"), {"topologyOperation": "deactivate", "topologyId": run.id, "status": "success"})
        self.assertEqual(self.get(run, "topology/ID")["status"], "INACTIVE")
        post("activate")
        self.assertEqual(self.get(run, "topology/ID")["status"], "ACTIVE")
        status, _, text = run.ask(f"/api/v1/topology/{run.id}/rebalance/30", "POST")
        self.assertEqual(status, 409)
        self.assertIn("gale restart --set", json.loads(text)["errorMessage"])
        self.assertEqual(post("kill/30")["status"], "success")
        self.assertEqual(run.process.wait(rig.PATIENCE), 0)

    def test_debug_puts_tuples_into_the_log(self):
        run = self.started("--log-level", "info")
        run.json(f"/api/v1/topology/{run.id}/component/split/debug/enable/100", "POST")
        self.assertTrue(self.get(run, "topology/ID/component/split")["debug"])
        with open(run.path / "in.txt", "a") as file:
            file.write("needle\n")
        rig.until(lambda: 'emits to default: ["needle"]' in run.text(), "the tuple in the log")
        run.json(f"/api/v1/topology/{run.id}/debug/disable/0", "POST")
        self.assertFalse(self.get(run, "topology/ID/component/split")["debug"])
        for wrong in "debug/enable/0", "debug/enable/101", "debug/enable/x", "debug/on/5":
            self.assertEqual(run.ask(f"/api/v1/topology/{run.id}/{wrong}", "POST")[0], 400, wrong)
        self.assertEqual(run.ask(f"/api/v1/topology/{run.id}/component/none/debug/enable/5", "POST")[0], 404)

    def debugged(self, *options):
        """A run whose `split` is debugged; tuples that are emitted from its next step on are logged."""
        run = self.started("--log-level", "info", *options)
        run.json(f"/api/v1/topology/{run.id}/component/split/debug/enable/100", "POST")

        def logged():
            self.add(run, "begun")
            return 'emits to default: ["begun"]' in run.text()
        rig.until(logged, "the first tuple in the log")
        return run

    def add(self, run, *lines):
        with open(run.path / "in.txt", "a") as file:
            file.writelines(line + "\n" for line in lines)

    def test_debug_logs_in_order_what_was_emitted_and_to_the_last_before_the_end(self):
        run = self.debugged()
        self.add(run, *[f"needle{number}" for number in range(500)])
        rig.until(lambda: self.executed(run) >= 500, "the needles")
        self.assertEqual(run.end(), 0)
        self.assertEqual(re.findall(r"INFO split: emits to default: \[\"needle(\d+)\"\]", run.text()), [str(number) for number in range(500)])

    def executed(self, run):
        """Of the needles, all of which come behind the last of `begun`."""
        now = run.json("/api/gale/v1/now")
        begun = (run.path / "in.txt").read_text().split().count("begun")
        return next(one["executed"] for one in now["components"] if one["name"] == "split") - begun - 40

    def test_debug_counts_what_comes_faster_than_it_is_logged(self):
        run = self.debugged()
        self.add(run, " ".join(f"n{number}" for number in range(100_000)))
        rig.until(lambda: self.executed(run) >= 1, "the words")
        self.assertEqual(run.end(), 0)
        text = run.text()
        logged = [int(number) for number in re.findall(r"INFO split: emits to default: \[\"n(\d+)\"\]", text)]
        left_out = sum(int(number) for number in re.findall(r"INFO split: emitted (\d+) more, too many", text))
        self.assertEqual(logged, sorted(logged))
        self.assertEqual(len(logged) + left_out, 100_000)

    def test_debug_leaves_the_event_log_alone(self):
        run = self.debugged("--log-events", "split")
        run.json(f"/api/v1/topology/{run.id}/debug/disable/0", "POST")
        self.add(run, "both")
        rig.until(lambda: self.executed(run) >= 1, "the last line")
        self.assertEqual(run.end(), 0)
        events = [json.loads(line)["values"] for line in (run.path / "events.jsonl").read_text().splitlines()]
        self.assertIn(["both"], events)
        self.assertIn(["begun"], events)

    def test_tools_that_know_a_user_and_a_password_alone(self):
        run = self.started()
        import base64
        pair = base64.b64encode(f"storm:{run.token}".encode()).decode()
        self.assertEqual(run.ask("/api/v1/cluster/summary", headers={"Authorization": "Basic " + pair}, token=False)[0], 200)

    def test_a_source_that_is_away_is_its_last_error(self):
        text = rig.WORDS.format(config="a: 1").replace("gale.spout.File", "gale.spout.File") + ""
        topology = text.replace("  - id: split\n", "  - id: away\n    className: gale.bolt.TcpSink\n"
                                "    properties: [{ name: connect, value: \"127.0.0.1:1\" }]\n  - id: split\n")
        topology += "  - { from: split, to: away, grouping: { type: GLOBAL } }\n"
        run = rig.Run(self, self.gale, topology)
        page = rig.until(lambda: (p := run.json("/api/v1/topology/served"))
                         and [b for b in p["bolts"] if b["lastError"]] and p, "an error")
        away = next(b for b in page["bolts"] if b["boltId"] == "away")
        self.assertEqual(list(lacks(away, {"errorPort": COUNT, "errorTime": COUNT, "errorLapsedSecs": COUNT})), [])
        errors = run.json("/api/v1/topology/served/component/away")["componentErrors"]
        self.assertEqual(list(lacks(errors, [{**fields(COUNT, "errorTime errorPort errorLapsedSecs"),
                                              **fields(TEXT, "errorHost error errorWorkerLogLink")}])), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
