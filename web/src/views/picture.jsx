// The topology, alive: a line is as wide as its rate (by its logarithm), its dots move faster when more passes; a box has the colour
// of its load, and says what it waits for; what is queued stands where the line ends.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { componentRate, edgeRate, feed } from "../feed.js";
import { bytes, perSecond, share, span } from "../format.js";
import { layout } from "../picture_layout.js";
import { toComponent } from "../route.js";

const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function short(name, width) {
  const room = Math.floor(width / 8.5);
  return name.length > room ? name.slice(0, room - 1) + "…" : name;
}

// How a component is, worst first: [kind, words]. The kind is a colour; the words say it without one.
export function conditionOf(component) {
  if (component.unwell?.length) return ["bad", `unhealthy for ${span(component.unwell[0].since)}`];
  const call = longestCall(component.name);
  if (call) return ["bad", `in a call ${span(call.since)}`];
  if (component.held_by?.share >= 0.05) return ["held", `held ${share(component.held_by.share)}`];
  if (component.pending_share >= 0.5) return ["held", `waits for acks ${share(component.pending_share)}`];
  if (component.done) return ["done", "done"];
  if (component.capacity >= 0.8) return ["high", `busy ${share(component.capacity)}`];
  if (component.capacity >= 0.5) return ["middle", `busy ${share(component.capacity)}`];
  return ["low", component.capacity >= 0.005 ? `busy ${share(component.capacity)}` : "idle"];
}

export const longCall = 2; // seconds in one call, from which on it is said

export function longestCall(name) {
  const calls = (feed.now?.executors || []).map((executor) => executor.in_call).filter((call) => call?.component === name);
  const longest = calls.sort((a, b) => b.since - a.since)[0];
  return longest && longest.since >= longCall ? longest : null;
}

const widthOf = (persecond) => 1.5 + 1.35 * Math.log10(1 + (persecond || 0));
const speedOf = (persecond) => (persecond > 0 ? 12 + 22 * Math.log10(1 + persecond) : 0);

// Of all its streams; null when nothing is known.
function rateOf({ edges }) {
  const rates = edges.map(({ id }) => edgeRate(id)).filter((rate) => rate !== null);
  return rates.length ? rates.reduce((sum, rate) => sum + rate, 0) : null;
}

function describe(edge) {
  const words = edge.fields?.length ? ` by ${edge.fields.join(", ")}` : "";
  return `stream ${edge.stream}, ${edge.grouping}${words}: ${perSecond(edgeRate(edge.id))}`;
}

function Line({ line }) {
  const persecond = rateOf(line);
  const wide = widthOf(persecond);
  const [x, y] = line.middle;
  return (
    <g class="line" data-edge={`${line.from} ${line.to}`}>
      <title>{[`${line.from} → ${line.to}`, ...line.edges.map(describe)].join("\n")}</title>
      <path class="pipe" d={line.path} stroke-width={wide} />
      <path class="dots" d={line.path} stroke-width={Math.max(3, wide * 0.62)} data-speed={speedOf(persecond)} />
      <text class="rate" x={line.turned ? x + 8 : x} y={line.turned ? y + 4 : y - wide / 2 - 5} text-anchor={line.turned ? "start" : "middle"}>
        {persecond === null ? "" : perSecond(persecond)}
      </text>
    </g>
  );
}

// What waits before a box, on the line that brings most.
function Queue({ item, component, lines }) {
  if (!component || !component.queued_bytes) return null;
  const inward = lines.filter(({ from, to }) => to === item.component && from !== item.component);
  if (inward.length === 0) return null;
  const most = inward.reduce((a, b) => ((rateOf(b) || 0) > (rateOf(a) || 0) ? b : a));
  const [x, y] = most.points[most.points.length - 1];
  const text = bytes(component.queued_bytes);
  const wide = text.length * 6.3 + 12;
  const left = most.turned ? x - wide - 6 : x - wide - 5;
  const fromBelow = most.points[0][1] > y + 1;
  const top = most.turned ? y - 19 : fromBelow ? y - 22 : y + 6;
  return (
    <g class="queue" data-queue={item.component}>
      <title>{`${text} wait before ${item.component}; at most ${bytes(component.queued_bytes_max)} did`}</title>
      <rect x={left} y={top} width={wide} height="16" rx="8" />
      <text x={left + wide / 2} y={top + 11.5} text-anchor="middle">
        {text}
      </text>
    </g>
  );
}

function Box({ item, box, about, component }) {
  const [kind, words] = component ? conditionOf(component) : ["low", ""];
  const spout = about.kind === "spout";
  const rate = perSecond(componentRate(about.name, spout ? "emitted" : "executed"));
  const load = Math.min(1, component?.capacity || 0);
  const many = about.tasks > 1 ? ` ×${about.tasks}` : "";
  return (
    <a
      class={`box ${kind} ${about.kind}`}
      href={toComponent(about.name)}
      data-component={about.name}
      aria-label={`${about.kind} ${about.name}, ${about.tasks} ${about.tasks === 1 ? "task" : "tasks"}, ${rate}${words && ", " + words}`}
      transform={`translate(${item.x} ${item.y})`}
    >
      <title>{`${about.kind} ${about.name}${about.class ? `, ${about.class}` : ""}`}</title>
      <rect class="body" width={box.width} height={box.height} rx={spout ? box.height / 2 : 9} />
      <text class="name" x={box.width / 2} y="21">
        {short(about.name, box.width)}
        <tspan class="many">{many}</tspan>
      </text>
      <text class="figures" x={box.width / 2} y="38">
        {rate}
      </text>
      <text class="words" x={box.width / 2} y="53">
        {words}
      </text>
      {load > 0 && <rect class="load" x={spout ? 24 : 8} y={box.height - 5.5} width={(box.width - (spout ? 48 : 16)) * load} height="2.5" rx="1.2" />}
    </a>
  );
}

// Dots move by their own clock, so that a new rate changes their speed and not their place.
function useMotion(frame) {
  useEffect(() => {
    let asked = 0;
    let before = performance.now();
    const gone = new WeakMap();
    function move(time) {
      asked = requestAnimationFrame(move);
      if (time - before < 30 || still()) return;
      const passed = Math.min(0.1, (time - before) / 1000);
      before = time;
      if (feed.state !== "live") return;
      for (const path of frame.current?.querySelectorAll(".dots") || []) {
        const way = ((gone.get(path) || 0) + passed * Number(path.dataset.speed)) % 1760;
        gone.set(path, way);
        path.style.strokeDashoffset = -way;
      }
    }
    asked = requestAnimationFrame(move);
    return () => cancelAnimationFrame(asked);
  }, []);
}

function useWidth(frame) {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(frame.current);
    setWidth(frame.current.clientWidth);
    return () => observer.disconnect();
  }, []);
  return width;
}

export function Picture() {
  const frame = useRef();
  const width = useWidth(frame);
  const { topology, now } = feed;
  const drawn = useMemo(() => (width > 0 ? layout(topology, width) : null), [topology, width]);
  const about = useMemo(() => new Map(topology.components.map((item) => [item.name, item])), [topology]);
  useMotion(frame);
  return (
    <div class="picture" ref={frame}>
      {drawn && (
        <svg
          role="group"
          aria-label={`The topology ${topology.name}`}
          width={drawn.frame.width * drawn.scale}
          height={drawn.frame.height * drawn.scale}
          viewBox={`${drawn.frame.left} ${drawn.frame.top} ${drawn.frame.width} ${drawn.frame.height}`}
        >
          {drawn.lines.map((line) => (
            <Line key={`${line.from} ${line.to}`} line={line} />
          ))}
          {drawn.boxes.map((item) => (
            <Queue key={item.component} item={item} component={now.component.get(item.component)} lines={drawn.lines} />
          ))}
          {drawn.boxes.map((item) => (
            <Box key={item.component} item={item} box={drawn.box} about={about.get(item.component)} component={now.component.get(item.component)} />
          ))}
        </svg>
      )}
    </div>
  );
}
