// Tuples of one stream as they pass. The process sends no more than the rate that is asked for, and says how many it left out; the
// page keeps the newest.

import { useEffect, useRef, useState } from "preact/hooks";
import { feed } from "../feed.js";
import { clock, count, fieldText } from "../format.js";
import { Panel } from "../parts/panel.jsx";
import { open } from "../server.js";

const kept = 200;
const redraw = 250; // ms
const rates = [1, 10, 100, 1000];

// Each line of an endless answer, parsed, until it ends or `signal` stops it.
async function* linesOf(path, signal) {
  const response = await open(path, { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim()) yield JSON.parse(line);
  }
}

function pathOf({ component, stream, where, rate }) {
  const query = new URLSearchParams({ component, stream, rate });
  if (where.trim()) query.set("where", where.trim());
  return `/tap?${query}`;
}

// The state of one tap: { running, tuples (newest first), seen, dropped, words }.
function useTap() {
  const [tap, setTap] = useState({ running: false, tuples: [], seen: 0, dropped: 0, words: "" });
  const control = useRef(null);
  const stop = () => control.current?.abort();
  useEffect(() => stop, []);

  async function start(choice) {
    stop();
    const mine = new AbortController();
    control.current = mine;
    const state = { running: true, tuples: [], seen: 0, dropped: 0, words: "" };
    const show = () => control.current === mine && setTap({ ...state });
    show();
    const timer = setInterval(show, redraw);
    try {
      for await (const tuple of linesOf(pathOf(choice), mine.signal)) {
        state.seen++;
        state.dropped += tuple.dropped || 0;
        state.tuples = [{ ...tuple, number: state.seen }, ...state.tuples].slice(0, kept);
      }
      state.words = "The tap has ended.";
    } catch (error) {
      state.words = mine.signal.aborted ? "Stopped." : error.absent ? "This process does not offer a tap there." : `${error.message}.`;
    }
    clearInterval(timer);
    state.running = false;
    show();
  }
  return { tap, start, stop };
}

function Choice({ choice, setChoice, running, onStart, onStop }) {
  const components = feed.topology.components.filter((item) => item.streams.length > 0);
  const streams = components.find((item) => item.name === choice.component)?.streams || [];
  const change = (key) => (event) => setChoice({ ...choice, [key]: event.target.value });
  return (
    <form
      class="choice"
      onSubmit={(event) => {
        event.preventDefault();
        onStart();
      }}
    >
      <label>
        Component
        <select
          value={choice.component}
          onChange={(event) => {
            const component = components.find((item) => item.name === event.target.value);
            setChoice({ ...choice, component: component.name, stream: component.streams[0].name });
          }}
        >
          {components.map((item) => (
            <option key={item.name}>{item.name}</option>
          ))}
        </select>
      </label>
      <label>
        Stream
        <select value={choice.stream} onChange={change("stream")}>
          {streams.map((item) => (
            <option key={item.name}>{item.name}</option>
          ))}
        </select>
      </label>
      <label class="wide">
        Where
        <input value={choice.where} onInput={change("where")} placeholder="an expression, or nothing" spellcheck={false} autocomplete="off" />
      </label>
      <label>
        At most
        <select value={choice.rate} onChange={change("rate")}>
          {rates.map((rate) => (
            <option key={rate} value={rate}>
              {rate} a second
            </option>
          ))}
        </select>
      </label>
      <div class="buttons">
        <button type="submit" class="primary">
          {running ? "Start again" : "Start"}
        </button>
        <button type="button" disabled={!running} onClick={onStop}>
          Stop
        </button>
      </div>
    </form>
  );
}

function Tuple({ tuple }) {
  return (
    <li>
      <span class="from">
        <time>{clock(tuple.time)}</time> {tuple.component}[{tuple.task}]
      </span>
      <span class="values">
        {Object.entries(tuple.values || {}).map(([field, value]) => (
          <span class="field" key={field}>
            <i>{field}</i> {fieldText(value)}
          </span>
        ))}
      </span>
    </li>
  );
}

export function Tap({ query }) {
  const first = feed.topology.components.find((item) => item.streams.length > 0);
  const [choice, setChoice] = useState({
    component: query.get("component") || first?.name || "",
    stream: query.get("stream") || first?.streams[0]?.name || "default",
    where: "",
    rate: "10",
  });
  const { tap, start, stop } = useTap();
  return (
    <Panel id="tap" title="Tap" note="tuples as they pass; nothing is changed by looking">
      <Choice choice={choice} setChoice={setChoice} running={tap.running} onStart={() => start(choice)} onStop={stop} />
      <p role="status" class="said">
        {tap.running && tap.seen === 0 ? "Waiting for a tuple …" : tap.words}
      </p>
      {tap.seen > 0 && (
        <p class="quiet" id="tap-seen">
          {count(tap.seen)} seen, {count(tap.dropped)} left out{tap.seen > kept ? `; the newest ${kept} are shown` : ""}.
        </p>
      )}
      <ol class="tuples" aria-label="Tuples, the newest first">
        {tap.tuples.map((tuple) => (
          <Tuple key={tuple.number} tuple={tuple} />
        ))}
      </ol>
    </Panel>
  );
}
