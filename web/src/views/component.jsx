// One component: how it is, its tasks, what comes in, what goes out, what fails and why, its own metrics.

import { componentRate, edgeRate, feed } from "../feed.js";
import { bytes, compact, count, duration, perSecond, share, span } from "../format.js";
import { Chart } from "../parts/chart.jsx";
import { Figure, Panel } from "../parts/panel.jsx";
import { Table } from "../parts/table.jsx";
import { lostOf, lostWords } from "../outcomes.js";
import { toComponent, toTap } from "../route.js";
import { counted, ended, endedOf, timed } from "./components.jsx";
import { conditionOf, longCall } from "./picture.jsx";

const callOf = (task) => {
  const call = feed.now.executors?.[task.executor]?.in_call;
  return call?.task === task.task ? call : null;
};

const taskColumns = [
  { key: "index", title: "Task", text: true, value: (row) => row.index, show: (row) => `${row.component}[${row.index}]` },
  { key: "executor", title: "Executor", value: (row) => row.executor },
  counted("executed", "Executed"),
  counted("emitted", "Emitted"),
  counted("acked", "Acked"),
  ...ended,
  { key: "busy", title: "Busy", hint: "share of the last ten seconds", value: (row) => row.busy_share, show: (_, value) => share(value) },
  { key: "queued", title: "Queued", value: (row) => row.queued_bytes, show: (_, value) => bytes(value) },
  { key: "most", title: "Most queued", value: (row) => row.queued_bytes_max, show: (_, value) => bytes(value) },
  timed("execute99", "execute", "p99", "Execute p99"),
  {
    key: "call",
    title: "In a call",
    hint: "since when its executor has been in one call of it",
    value: (row) => callOf(row)?.since ?? null,
    show: (_, value) => (value === null ? "–" : duration(value)),
  },
];

const meant = (key, title, hint) => ({ key, title, hint, value: (row) => row[key] ?? null, show: (_, value) => duration(value) });

const inputColumns = [
  { key: "from", title: "From", text: true, value: (row) => row.from, show: (row) => <a href={toComponent(row.from)}>{row.from}</a> },
  { key: "stream", title: "Stream", text: true, value: (row) => row.stream },
  { key: "grouping", title: "Grouping", text: true, value: (row) => [row.grouping, ...(row.fields || [])].join(" ") },
  { key: "rate", title: "Rate", value: (row) => row.rate, show: (_, value) => perSecond(value) },
  counted("executed", "Executed"),
  counted("acked", "Acked"),
  ...ended,
  counted("dropped", "Dropped"),
  meant("execute", "Execute", "the mean of its calls"),
  meant("process", "Process", "from execute to ack, the mean"),
];

const streamColumns = [
  { key: "stream", title: "Stream", text: true, value: (row) => row.name },
  { key: "fields", title: "Fields", text: true, long: true, sort: false, value: (row) => row.fields.join(", ") },
  counted("emitted", "Emitted"),
  counted("transferred", "Transferred"),
  {
    key: "tap",
    title: "Tap",
    text: true,
    sort: false,
    value: () => "",
    show: (row) => <a href={toTap(row.component, row.name)}>see what passes</a>,
  },
];

const metricColumns = [
  { key: "name", title: "Metric", text: true, value: series },
  { key: "kind", title: "Kind", text: true, value: (row) => row.kind },
  { key: "value", title: "Value", value: (row) => (row.kind === "histogram" ? row.value?.count : row.value), show: (_, value) => metric(value) },
  ...["p50", "p99", "max"].map((part) => ({
    key: part,
    title: part,
    value: (row) => (row.kind === "histogram" ? (row.value?.[part] ?? null) : null),
    show: (_, value) => metric(value),
  })),
  { key: "help", title: "What it is", text: true, long: true, sort: false, value: (row) => row.help },
];

// As Prometheus writes it: asked{method="GET", url="/a"}.
function series({ name, labels }) {
  const all = Object.entries(labels || {}).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return all.length > 0 ? `${name}{${all.join(", ")}}` : name;
}

function metric(value) {
  if (value === null || value === undefined) return "–";
  return Number.isInteger(value) ? count(value) : String(Number(value.toPrecision(6)));
}

const reasonColumns = [
  { key: "reason", title: "Reason", text: true, value: (row) => row.reason },
  counted("count", "Tuples"),
];

function inputsOf(name) {
  return feed.topology.edges
    .filter((edge) => edge.to === name)
    .map((edge) => ({ ...edge, ...feed.now.edge.get(edge.id), rate: edgeRate(edge.id) }));
}

function streamsOf(about) {
  const counts = (feed.now.streams || []).filter((stream) => stream.component === about.name);
  return about.streams.map((stream) => ({
    ...stream,
    component: about.name,
    ...counts.find((item) => item.stream === stream.name),
  }));
}

// Problems of the component, and those that name one of its tasks.
function Sentences({ name, tasks }) {
  const here = new Set(tasks.map(({ task }) => task));
  const sentences = (feed.now.hurts || []).filter((hurt) => hurt.component === name || here.has(hurt.task));
  if (sentences.length === 0) return null;
  return (
    <ul class="sentences">
      {sentences.map((hurt, place) => (
        <li key={place} class={hurt.level}>
          {hurt.text}
          {hurt.since === null || hurt.since === undefined ? "" : `, for ${span(hurt.since)}`}
        </li>
      ))}
    </ul>
  );
}

function Held({ component }) {
  const by = component.held_by;
  if (!by) return null;
  return (
    <p class="held-by">
      Held {share(by.share)} of the time by{" "}
      <a href={toComponent(by.component)}>
        {by.component}[{by.index}]
      </a>
      {by.since !== null && by.since !== undefined ? `, at present for ${duration(by.since)}` : ""}.
    </p>
  );
}

function Figures({ about, component }) {
  const spout = about.kind === "spout";
  const lost = lostOf(component);
  return (
    <dl class="figures-row">
      {!spout && <Figure id="executed" name="Executed" value={compact(componentRate(about.name, "executed"))} unit="/s" below={`${count(component.executed)} in all`} />}
      <Figure id="emitted" name="Emitted" value={compact(componentRate(about.name, "emitted"))} unit="/s" below={`${count(component.emitted)} in all`} />
      <Figure id="capacity" name="Capacity" value={share(component.capacity)} below={`${about.tasks} ${about.tasks === 1 ? "task" : "tasks"}`} />
      {!spout && <Figure id="queued" name="Queued" value={bytes(component.queued_bytes)} below={`at most ${bytes(component.queued_bytes_max)}`} />}
      {!spout && <Figure id="execute" name="Execute" value={duration(component.execute?.p50)} below={`p99 ${duration(component.execute?.p99)}`} />}
      <Figure id="failed" kind={lost ? "lost" : ""} name="Failed" value={count(lost)} below={`${lost ? `${lostWords(component, count)}; ` : ""}${count(component.acked)} acked`} />
    </dl>
  );
}

function History({ name }) {
  const series = feed.history?.components?.[name];
  if (!series?.executed?.length) return null;
  const { times } = feed.history;
  return (
    <div class="charts two">
      <Chart title="Tuples a second" show={compact} data={[times, series.executed]} series={[{ name: "executed", ink: "accent", fill: true }]} />
      {series.queued_bytes && (
        <Chart title="Queued" show={bytes} data={[times, series.queued_bytes]} series={[{ name: "bytes", ink: "violet", fill: true }]} />
      )}
    </div>
  );
}

const otherCounts = ["rejected", "timed_out", "expired", "shed", "overflowed", "dropped", "errors", "ticks"];

function Others({ component }) {
  const rows = otherCounts.filter((key) => component[key] > 0);
  if (rows.length === 0) return null;
  return (
    <p class="quiet" id="others">
      Also {rows.map((key) => `${count(component[key])} ${key.replace("_", " ")}`).join(", ")}.
    </p>
  );
}

function rowClass(row, marked) {
  if (callOf(row)?.since >= longCall) return "stuck";
  return String(row.task) === marked ? "marked" : "";
}

export function Component({ name, query }) {
  const about = feed.topology.components.find((item) => item.name === name);
  const component = feed.now.component.get(name);
  if (!about || !component) return <p class="panel quiet">There is no component {name} in this topology.</p>;
  const [kind, words] = conditionOf(component);
  const tasks = (feed.now.tasks || []).filter((task) => task.component === name);
  const inputs = inputsOf(name);
  return (
    <>
      <section class="panel component" aria-labelledby="component-title">
        <header>
          <h2 id="component-title">{name}</h2>
          <span class="note">
            {about.kind}
            {about.class && <code>{about.class}</code>}
          </span>
          {words && <span class={`chip ${kind}`}>{words}</span>}
        </header>
        <Sentences name={name} tasks={tasks} />
        <Held component={component} />
        <Others component={component} />
      </section>
      <Figures about={about} component={component} />
      <Panel id="tasks" title="Tasks">
        <Table label="Tasks" columns={endedOf(taskColumns, tasks)} rows={tasks} rowKey={(row) => row.task} rowClass={(row) => rowClass(row, query.get("task"))} />
      </Panel>
      {inputs.length > 0 && (
        <Panel id="inputs" title="What comes in">
          <Table label="Inputs" columns={endedOf(inputColumns, inputs)} rows={inputs} rowKey={(row) => row.id} />
        </Panel>
      )}
      <Panel id="streams" title="What goes out">
        <Table label="Streams" columns={streamColumns} rows={streamsOf(about)} rowKey={(row) => row.name} empty="It emits nothing." />
      </Panel>
      <Panel id="reasons" title="Failures by reason">
        <Table small label="Failures" columns={reasonColumns} rows={component.failures} rowKey={(row) => row.reason} empty="Nothing has failed here." />
      </Panel>
      {component.metrics?.length > 0 && (
        <Panel id="metrics" title="Metrics of its own">
          <Table small label="Metrics" columns={metricColumns} rows={component.metrics} rowKey={series} />
        </Panel>
      )}
      <Panel id="component-history" title="The last ten minutes">
        <History name={name} />
      </Panel>
    </>
  );
}
