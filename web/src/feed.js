// The readings of the process: one of /now and the newest of /history each second, while somebody looks. Everything that the
// page shows of a moment is of one reading.

import { get } from "./server.js";

const second = 1000;
const kept = 4; // readings: rates are of the last three seconds, so that they are steady, and soon right
const historyLength = 600;

export const feed = {
  state: "waiting", // then "live", "gone" (nobody answers) or "refused" (another token, or another process)
  why: "",
  heard: 0, // unix time of the last reading
  topology: null,
  now: null,
  history: null,
};

let readings = [];
let told = () => {};

const byName = (list, key) => new Map((list || []).map((item) => [item[key], item]));

function indexed(reading) {
  reading.component = byName(reading.components, "name");
  reading.edge = byName(reading.edges, "id");
  return reading;
}

// The growth a second of a count, which `pick` takes from a reading; null when there are not two readings.
export function rate(pick) {
  if (readings.length < 2) return null;
  const first = readings[0];
  const last = readings[readings.length - 1];
  const grown = pick(last) - pick(first);
  const passed = last.time - first.time;
  return passed > 0 && Number.isFinite(grown) ? Math.max(0, grown / passed) : null;
}

export const componentRate = (name, field) => rate((reading) => reading.component.get(name)?.[field]);
export const edgeRate = (id) => rate((reading) => reading.edge.get(id)?.executed);

// The newest samples are put behind those that are here.
function joined(old, fresh) {
  const from = old ? fresh.times.findIndex((time) => time > old.times[old.times.length - 1]) : 0;
  if (!old || old.times.length === 0) return fresh;
  if (from < 0) return old;
  const drop = Math.max(0, old.times.length + fresh.times.length - from - historyLength);
  const join = (before, after) => (before || []).slice(drop).concat((after || []).slice(from));
  const result = { components: {} };
  for (const [key, series] of Object.entries(fresh))
    if (Array.isArray(series)) result[key] = join(old[key], series);
  for (const [name, series] of Object.entries(fresh.components || {})) {
    const before = old.components[name] || {};
    result.components[name] = Object.fromEntries(
      Object.entries(series).map(([key, values]) => [key, join(before[key], values)]),
    );
  }
  return result;
}

// A gap, as a page leaves that nobody looked at, is filled by asking for all of it.
async function readHistory() {
  const last = feed.history?.times.at(-1);
  const behind = last === undefined ? historyLength : Math.min(historyLength, Math.ceil(feed.now.time - last) + 2);
  try {
    const fresh = await get(`/history?seconds=${Math.max(5, behind)}`);
    feed.history = joined(behind >= historyLength ? null : feed.history, fresh);
  } catch (error) {
    if (!error.absent) throw error;
    feed.history = null;
  }
}

// Another process began at another time; a clock that was set makes no harm: the topology is asked for once more.
function isAnother(reading) {
  const began = ({ time, uptime }) => time - uptime;
  return feed.now && Math.abs(began(reading) - began(feed.now)) > 1;
}

async function readAll() {
  const reading = indexed(await get("/now"));
  if (!feed.topology || isAnother(reading)) {
    feed.topology = await get("/topology");
    feed.history = null;
    readings = [];
  }
  feed.now = reading;
  readings = [...readings, reading].slice(-kept);
  await readHistory();
  feed.heard = Date.now() / 1000;
  feed.state = "live";
}

async function readOnce() {
  try {
    await readAll();
  } catch (error) {
    feed.state = error.status === 401 || error.status === 403 ? "refused" : "gone";
    feed.why = error.message;
    readings = [];
  }
  told();
}

// `tell` is called after each reading. A page in the background asks nothing.
export function follow(tell) {
  told = tell;
  let timer = 0;
  let busy = false;
  async function turn() {
    clearTimeout(timer);
    if (busy || document.hidden) return;
    busy = true;
    const began = performance.now();
    await readOnce();
    busy = false;
    timer = setTimeout(turn, Math.max(100, second - (performance.now() - began)));
  }
  document.addEventListener("visibilitychange", turn);
  turn();
}
