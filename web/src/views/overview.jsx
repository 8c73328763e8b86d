// The first screen: problems, how much passes, the topology alive, the last ten minutes.

import { useEffect, useRef, useState } from "preact/hooks";
import { feed, rate } from "../feed.js";
import { bytes, compact, count, duration, perSecond, span } from "../format.js";
import { Chart } from "../parts/chart.jsx";
import { Figure, Panel } from "../parts/panel.jsx";
import { lostOf, lostWords } from "../outcomes.js";
import { toComponent } from "../route.js";
import { Picture } from "./picture.jsx";

const marks = { bad: "●", warn: "▲", note: "○" };
const levels = { bad: "Bad", warn: "Warning", note: "Note" };

// The sentence leads to the task that it names, which may be another component's: that of who holds a spout.
function whereOf({ component, task }) {
  const named = task && (feed.now.tasks || []).find((item) => item.task === task);
  return named ? [named.component, task] : [component];
}

function Hurt({ hurt }) {
  const where = whereOf(hurt);
  const text = (
    <>
      <span class={`mark ${hurt.level}`} aria-hidden="true">
        {marks[hurt.level] || marks.note}
      </span>
      <span class="sr">{levels[hurt.level]}: </span>
      <span>
        {hurt.text}
        {hurt.since === null || hurt.since === undefined ? "" : `, for ${span(hurt.since)}`}
      </span>
    </>
  );
  return (
    <li class={hurt.level}>
      {where[0] ? <a href={toComponent(...where)}>{text}</a> : <div>{text}</div>}
    </li>
  );
}

// Read aloud when a problem begins or ends, not each second that its figures change.
function Announcer({ hurts }) {
  const serious = hurts.filter(({ level }) => level !== "note");
  const key = serious.map(({ level, component, task }) => `${level} ${component} ${task}`).join("\n");
  const said = useRef(null);
  const [words, setWords] = useState("");
  useEffect(() => {
    if (said.current !== null || serious.length > 0)
      setWords(serious.length ? serious.map(({ text }) => text).join(". ") : "There is no problem any more.");
    said.current = key;
  }, [key]);
  return (
    <div class="sr" role="status" aria-live="polite">
      {words}
    </div>
  );
}

function verdictOf(hurts, health) {
  if (!health?.live) return ["bad", "Unhealthy"];
  if (hurts.some(({ level }) => level === "bad")) return ["bad", "In trouble"];
  if (!health.ready) return ["warn", "Not ready"];
  if (hurts.some(({ level }) => level === "warn")) return ["warn", "Worth a look"];
  return ["good", "All is well"];
}

function Health({ health }) {
  if (!health) return null;
  const words = `${health.live ? "live" : "not live"}, ${health.ready ? "ready" : "not ready"}`;
  return (
    <span class="health" data-health={words}>
      {words}
    </span>
  );
}

function Problems() {
  const { hurts = [], health } = feed.now;
  const [kind, verdict] = verdictOf(hurts, health);
  const problems = (health?.problems || []).filter(({ component }) => !component); // a component's are among the others
  return (
    <section class={`panel hurts ${kind}`} id="hurts" aria-labelledby="hurts-title">
      <header>
        <h2 id="hurts-title">Problems</h2>
        <strong class={`verdict ${kind}`}>{verdict}</strong>
        <Health health={health} />
      </header>
      <ul>
        {hurts.map((hurt, place) => (
          <Hurt key={`${hurt.component} ${place}`} hurt={hurt} />
        ))}
        {problems.map((problem) => (
          <li class="bad" key={problem.text}>
            <div>
              <span class="mark bad" aria-hidden="true">
                ●
              </span>
              <span>
                {problem.text}, for {span(problem.since)}
              </span>
            </div>
          </li>
        ))}
        {hurts.length + problems.length === 0 && <li class="nothing">Nothing is held, congested, unhealthy or late.</li>}
      </ul>
      <Announcer hurts={hurts} />
    </section>
  );
}

const newest = (series) => (series?.length ? series[series.length - 1] : null);

function Figures() {
  const { trees, complete, memory } = feed.now;
  const p50 = newest(feed.history?.p50) ?? complete?.p50;
  const p99 = newest(feed.history?.p99) ?? complete?.p99;
  const lost = lostOf(trees);
  return (
    <dl class="figures-row">
      <Figure id="acked" name="Trees acked" value={compact(rate(({ trees }) => trees.acked))} unit="/s" below={`${count(trees.acked)} in all`} />
      <Figure id="latency" name="Complete latency" value={duration(p50)} below={`p99 ${duration(p99)}`} />
      <Figure id="open" name="Open trees" value={count(trees.open)} below={`${count(trees.trees)} begun`} />
      <Figure
        id="failed"
        kind={lost > 0 ? "lost" : ""}
        name="Failed"
        value={count(lost)}
        below={`${lost ? `${lostWords(trees, count)}; ` : ""}${perSecond(rate(({ trees }) => lostOf(trees)))}, ${count(trees.replayed)} replayed`}
      />
      <Figure
        id="letters"
        kind={trees.dead_letters > 0 ? "lost" : ""}
        name="Dead letters"
        value={count(trees.dead_letters)}
        below={`${count(trees.given_up)} given up`}
      />
      <Figure id="memory" name="Memory" value={bytes(memory?.in_use)} below={`${bytes(memory?.reserved)} reserved`} />
    </dl>
  );
}

function Charts() {
  const { history } = feed;
  if (!history?.times?.length) return <p class="quiet">This process keeps no history.</p>;
  const { times, acked, failed, p50, p99, open } = history;
  return (
    <div class="charts">
      <Chart title="Trees a second" show={compact} data={[times, acked, failed]} series={[{ name: "acked", ink: "accent", fill: true }, { name: "failed", ink: "bad" }]} />
      <Chart title="Complete latency" show={duration} data={[times, p50, p99]} series={[{ name: "p50", ink: "accent" }, { name: "p99", ink: "warn" }]} />
      <Chart title="Open trees" show={compact} data={[times, open]} series={[{ name: "open", ink: "violet", fill: true }]} />
    </div>
  );
}

export function Overview() {
  return (
    <>
      <Problems />
      <Figures />
      <Panel id="picture" title="Topology" note={feed.topology.drawing && <Key />}>
        {feed.topology.drawing ? <Picture /> : <p class="quiet">This process draws no picture.</p>}
      </Panel>
      <Panel id="history" title="The last ten minutes">
        <Charts />
      </Panel>
    </>
  );
}

function Key() {
  return (
    <span class="key" aria-hidden="true">
      <i class="low" /> idle <i class="middle" /> half busy <i class="high" /> busy <i class="held" /> held <i class="bad" /> stuck
    </span>
  );
}
