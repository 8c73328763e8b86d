// Figures over time, drawn by uPlot; the values under the pointer, or else the newest, stand above as text.

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { bytes, clock } from "../format.js";
import { colour, isDark } from "../theme.js";

const height = 150;
const least = 60; // seconds, for a process that has just begun

// Steps of an axis of bytes; the others are uPlot's.
const powers = Array.from({ length: 50 }, (_, power) => 2 ** power);
const plain = (text) => text.replace(/\.0+(?=\D|$)/, "");

function axis(values, size) {
  return {
    stroke: colour("quiet"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colour("line"), width: 1 },
    ticks: { show: false },
    size,
    values,
  };
}

function optionsOf({ series, show, width, onPlace }) {
  return {
    width,
    height,
    legend: { show: false },
    cursor: { sync: { key: "gale" }, drag: { x: false, y: false }, points: { size: 6 }, y: false },
    scales: { x: { range: (_, low, high) => [Math.min(low, high - least), high] }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis((_, splits, __, ___, step) => splits.map((time) => clock(time).slice(0, step < 60 ? 8 : 5)), 24), space: 80 },
      { ...axis((_, splits) => splits.map((value) => plain(show(value))), 58), space: 34, incrs: show === bytes ? powers : undefined },
    ],
    series: [
      {},
      ...series.map(({ ink, fill }) => ({
        stroke: colour(ink),
        width: 1.6,
        points: { show: false },
        fill: fill ? colour(`${ink}-soft`) : undefined,
      })),
    ],
    hooks: { setCursor: [(plot) => onPlace(plot.cursor.idx ?? null)] },
  };
}

function Legend({ series, data, place, show }) {
  const index = place !== null && place < data[0].length ? place : data[0].length - 1;
  return (
    <div class="legend">
      {series.map(({ name, ink }, number) => (
        <span key={name} class="entry">
          <svg class={`swatch ${ink}`} viewBox="0 0 12 4" aria-hidden="true">
            <rect width="12" height="4" rx="2" />
          </svg>
          {name} <b>{show(data[number + 1][index] ?? null)}</b>
        </span>
      ))}
      {place !== null && <span class="at">{clock(data[0][index])}</span>}
    </div>
  );
}

// `data` is [times, values of the first of `series`, ...]; `show` makes text of a value.
export function Chart({ title, series, data, show }) {
  const box = useRef();
  const plot = useRef();
  const [place, setPlace] = useState(null);
  const dark = isDark();

  useEffect(() => {
    const frame = box.current;
    const width = () => Math.max(200, frame.clientWidth);
    const drawn = new uPlot(optionsOf({ series, show, width: width(), onPlace: setPlace }), data, frame);
    const observer = new ResizeObserver(() => drawn.setSize({ width: width(), height }));
    observer.observe(frame);
    plot.current = drawn;
    return () => {
      observer.disconnect();
      drawn.destroy();
    };
  }, [dark, series.length]);

  useEffect(() => plot.current.setData(data), [data[0].at(-1), data[0].length]);

  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <Legend series={series} data={data} place={place} show={show} />
      </figcaption>
      <div class="plot" ref={box} aria-hidden="true" />
    </figure>
  );
}
