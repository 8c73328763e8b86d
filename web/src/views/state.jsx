// What the process keeps and uses: checkpoints, executors, memory.

import { useState } from "preact/hooks";
import { feed } from "../feed.js";
import { bytes, count, duration, share, span } from "../format.js";
import { Answered, Panel, useAnswer } from "../parts/panel.jsx";
import { Table } from "../parts/table.jsx";

const times = /^(age|took|held|owed)/;

// A figure of checkpoints, by what its name says it is.
function shown(key, value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return String(value);
  if (key.startsWith("bytes")) return bytes(value);
  return times.test(key) ? duration(value) : count(value);
}

const titleOf = (key) => key[0].toUpperCase() + key.slice(1).replaceAll("_", " ");

function Facts({ facts }) {
  return (
    <dl class="facts">
      {Object.entries(facts).map(([key, value]) => (
        <div key={key}>
          <dt>{titleOf(key)}</dt>
          <dd data-fact={key}>{shown(key, value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Checkpoints({ ask }) {
  const [turn, setTurn] = useState(0);
  const answer = useAnswer("/checkpoints", 2, turn);
  if (!feed.topology.durable) return <p class="quiet">This run keeps no state: it was started without --state.</p>;
  const now = () =>
    ask({
      title: "Make a checkpoint now?",
      text: "Everything that the run knows is written to its state, as it is each time that a checkpoint is due.",
      button: "Make one",
      path: "/checkpoint",
      done: () => setTurn(turn + 1),
    });
  return (
    <>
      <Answered answer={answer} what="checkpoints">
        {(facts) => (
          <>
            <Facts facts={facts} />
            <div class="buttons left">
              <button type="button" onClick={now}>
                Make a checkpoint now
              </button>
            </div>
          </>
        )}
      </Answered>
    </>
  );
}

const part = (key, title) => ({
  key,
  title,
  value: (row) => row[key] ?? null,
  show: (row, value) => value === null ? "–" : `${duration(value)} (${share(value / (row.busy + row.waiting + row.held || 1))})`,
});

const executorColumns = [
  { key: "index", title: "Executor", text: true, value: (row) => row.index },
  { key: "tasks", title: "Tasks", value: (row) => row.tasks },
  part("busy", "Busy"),
  part("waiting", "Waiting"),
  part("held", "Held"),
  {
    key: "call",
    title: "In a call of",
    text: true,
    value: (row) => row.in_call?.component ?? null,
    show: (row) => (row.in_call ? `${row.in_call.component}, for ${duration(row.in_call.since)}` : "–"),
  },
];

const memoryColumns = [
  { key: "name", title: "For", text: true, value: (row) => row.name },
  { key: "bytes", title: "In use", value: (row) => row.bytes, show: (_, value) => bytes(value) },
];

export function State({ ask }) {
  const { executors, memory, uptime } = feed.now;
  return (
    <>
      <Panel id="checkpoints" title="Checkpoints">
        <Checkpoints ask={ask} />
      </Panel>
      <Panel id="executors" title="Executors" note={`since the start, ${span(uptime)} ago`}>
        <Table label="Executors" columns={executorColumns} rows={executors} rowKey={(row) => row.index} />
      </Panel>
      {memory && (
        <Panel id="memory" title="Memory" note={`${bytes(memory.in_use)} in use, ${bytes(memory.reserved)} reserved`}>
          <Table small label="Memory" empty="It is not told by what it is for." columns={memoryColumns} rows={memory.tags} rowKey={(row) => row.name} />
        </Panel>
      )}
    </>
  );
}
