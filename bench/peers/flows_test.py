#!/usr/bin/env python3
"""What is lacking is named and skipped, and a peer that cannot do a flow is told from one that ran."""

import contextlib
import io
import os
import sys
import unittest
from unittest import mock

import flows


class Flows(unittest.TestCase):
    def test_without_tools_every_peer_is_skipped_aloud_with_what_to_install(self):
        told = io.StringIO()
        with mock.patch.dict(os.environ, {"PATH": ""}), contextlib.redirect_stderr(told):
            self.assertEqual({}, flows.programs())
        lines = told.getvalue().splitlines()
        for name, how in (("storm", "maven"), ("jet", "maven"), ("timely", "cargo")):
            self.assertTrue([line for line in lines if line.startswith(f"skipped: {name}: ") and how in line], lines)

    def test_only_those_named_are_built(self):
        with mock.patch.object(flows, "storm") as storm, mock.patch.object(flows, "jet") as jet, \
                mock.patch.object(flows, "timely", return_value={"timely": (["it"], [])}):
            self.assertEqual({"timely": (["it"], [])}, flows.programs(("timely",)))
        storm.assert_not_called()
        jet.assert_not_called()

    def test_jars_that_cannot_be_fetched_skip_the_peer(self):
        told = io.StringIO()
        with mock.patch.object(flows, "lacking", return_value=False), contextlib.redirect_stderr(told), \
                mock.patch.object(flows, "BUILD", "/nonexistent"), \
                mock.patch.object(flows, "command", return_value="no route"):
            self.assertEqual({}, flows.storm())
        self.assertIn("skipped: storm: mvn could not fetch the jars", told.getvalue())
        self.assertIn("no route", told.getvalue())

    def test_a_trial_is_one_line_of_json(self):
        peer = [sys.executable, "-c", "import sys; assert sys.stdin.readline() == 'go\\n'; print('{\"ns\": 5.5}')"]
        self.assertEqual(({"ns": 5.5}, None), flows.once(peer, ["--flow", "const-null"]))

    def test_a_peer_that_lacks_the_flow_says_why(self):
        peer = [sys.executable, "-c", "import sys; sys.exit('no such flow')"]
        self.assertEqual((None, "no such flow"), flows.once(peer, []))

    def test_a_flow_that_no_peer_has_is_refused(self):
        with mock.patch.object(flows, "programs", return_value={"storm": (["storm"], ["const-null"])}):
            self.assertEqual("no peer has the flow const-nul", flows.by_hand("const-nul", []))


if __name__ == "__main__":
    unittest.main()
