// All components, with the columns of Storm's page, capacity and percentiles.

import { componentRate, feed } from "../feed.js";
import { bytes, count, duration, perSecond, share } from "../format.js";
import { outcomes } from "../outcomes.js";
import { Panel, Share } from "../parts/panel.jsx";
import { Table } from "../parts/table.jsx";
import { toComponent } from "../route.js";
import { conditionOf } from "./picture.jsx";

export const counted = (key, title, hint) => ({ key, title, hint, value: (row) => row[key], show: (_, value) => count(value) });

// "Failed" always, the others once they count something.
export const ended = outcomes.map(([key, title]) => counted(key, title));
export const endedOf = (columns, rows) =>
  columns.filter(({ key }) => key === "failed" || !outcomes.some(([known]) => known === key) || rows.some((row) => row[key] > 0));

export const timed = (key, of, part, title, hint) => ({
  key,
  title,
  hint,
  value: (row) => row[of]?.[part] ?? null,
  show: (_, value) => duration(value),
});

export const capacity = {
  key: "capacity",
  title: "Capacity",
  hint: "share of the last ten seconds in which it worked",
  value: (row) => row.capacity,
  show: (_, value) => (
    <span class="with-share">
      <Share value={value} /> <span>{share(value)}</span>
    </span>
  ),
};

const name = {
  key: "name",
  title: "Component",
  text: true,
  value: (row) => row.name,
  show: (row) => (
    <>
      <a href={toComponent(row.name)}>{row.name}</a> <span class="kind">{row.about.kind}</span>
    </>
  ),
};

const condition = {
  key: "condition",
  title: "State",
  text: true,
  value: (row) => conditionOf(row)[1],
  show: (row) => {
    const [kind, words] = conditionOf(row);
    return <span class={`chip ${kind}`}>{words}</span>;
  },
};

const columns = [
  name,
  { key: "tasks", title: "Tasks", value: (row) => row.about.tasks, show: (_, value) => count(value) },
  condition,
  {
    key: "rate",
    title: "Rate",
    hint: "executed a second; of a spout, emitted",
    value: (row) => componentRate(row.name, row.about.kind === "spout" ? "emitted" : "executed"),
    show: (_, value) => perSecond(value),
  },
  counted("emitted", "Emitted"),
  counted("transferred", "Transferred"),
  counted("executed", "Executed"),
  counted("acked", "Acked"),
  ...ended,
  capacity,
  { key: "queued", title: "Queued", value: (row) => row.queued_bytes, show: (_, value) => bytes(value) },
  timed("execute", "execute", "p50", "Execute", "half of the calls took less"),
  timed("execute99", "execute", "p99", "p99", "99 of 100 calls took less"),
  timed("process", "process", "p50", "Process", "from execute to ack: half took less"),
  timed("process99", "process", "p99", "p99", "from execute to ack: 99 of 100 took less"),
];

// In the order of the drawing: spouts first, each bolt behind those that feed it.
function inOrder({ components, drawing }) {
  if (!drawing) return components;
  const at = new Map(drawing.nodes.map(({ component, x, y }) => [component, [x, y]]));
  const place = ({ name }) => at.get(name) || [Infinity, 0];
  return [...components].sort((a, b) => place(a)[0] - place(b)[0] || place(a)[1] - place(b)[1]);
}

function rowsOf() {
  return inOrder(feed.topology)
    .filter((about) => feed.now.component.has(about.name))
    .map((about) => ({ ...feed.now.component.get(about.name), about }));
}

export function Components() {
  const rows = rowsOf();
  return (
    <Panel id="components" title="Components" note="since the start, but for rate and capacity">
      <Table label="Components" columns={endedOf(columns, rows)} rows={rows} rowKey={(row) => row.name} />
    </Panel>
  );
}
