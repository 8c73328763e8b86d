// The configuration as it was loaded; what is secret has been taken out by the process.

import { useState } from "preact/hooks";
import { feed } from "../feed.js";
import { count, when } from "../format.js";
import { Panel } from "../parts/panel.jsx";
import { Table } from "../parts/table.jsx";

const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));

const columns = [
  { key: "key", title: "Key", text: true, value: (row) => row.key, show: (_, value) => <code>{value}</code> },
  { key: "value", title: "Value", text: true, long: true, value: (row) => row.value, show: (_, value) => <span class="values">{value}</span> },
];

function rowsOf(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return Object.entries(feed.topology.configuration || {})
    .map(([key, value]) => ({ key, value: textOf(value) }))
    .filter(({ key, value }) => wanted.every((word) => `${key} ${value}`.toLowerCase().includes(word)));
}

function Run() {
  const { topology } = feed;
  const facts = {
    File: topology.file || "built by a program",
    Version: topology.version,
    Process: topology.pid,
    Started: when(topology.started),
    Executors: topology.executors,
    Durable: topology.durable ? "yes" : "no",
  };
  return (
    <dl class="facts">
      {Object.entries(facts).map(([key, value]) => (
        <div key={key}>
          <dt>{key}</dt>
          <dd data-fact={key}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Configuration() {
  const [words, setWords] = useState("");
  const rows = rowsOf(words);
  return (
    <>
      <Panel id="run" title="This run">
        <Run />
      </Panel>
      <Panel id="configuration" title="Configuration" note={`${count(rows.length)} keys`}>
        <label class="filter">
          Only with{" "}
          <input type="search" value={words} onInput={(event) => setWords(event.target.value)} placeholder="words of a key or value" />
        </label>
        <Table label="Configuration" columns={columns} rows={rows} rowKey={(row) => row.key} choice={false} empty="No key has that." />
      </Panel>
    </>
  );
}
