// The page's boxes: a panel with a title, a figure with its name, a sentence in place of what a process does not offer.

import { useEffect, useState } from "preact/hooks";
import { get } from "../server.js";

export function Panel({ title, note, id, kind = "", children }) {
  return (
    <section class={`panel ${kind}`} aria-labelledby={`${id}-title`} id={id}>
      <header>
        <h2 id={`${id}-title`}>{title}</h2>
        {note && <div class="note">{note}</div>}
      </header>
      {children}
    </section>
  );
}

export function Figure({ id, name, value, unit, below, kind = "" }) {
  return (
    <div class={`big ${kind}`} data-figure={id}>
      <dt>{name}</dt>
      <dd>
        <b>{value}</b>
        {unit && <span class="unit">{unit}</span>}
      </dd>
      <dd class="below">{below}</dd>
    </div>
  );
}

export function Share({ value }) {
  const kind = value >= 0.8 ? "high" : value >= 0.5 ? "middle" : "low";
  const wide = Math.min(1, Math.max(0, value || 0));
  return (
    <svg class={`share ${kind}`} viewBox="0 0 40 6" aria-hidden="true">
      <rect class="all" width="40" height="6" rx="3" />
      {wide > 0 && <rect class="part" width={Math.max(3, 40 * wide)} height="6" rx="3" />}
    </svg>
  );
}

// What `path` answers, asked again every `seconds`, or when `again` changes: { data, error }.
export function useAnswer(path, seconds, again) {
  const [answer, setAnswer] = useState({ data: null, error: null });
  useEffect(() => {
    let timer = 0;
    let over = false;
    async function ask() {
      let absent = false;
      try {
        const data = await get(path);
        if (!over) setAnswer({ data, error: null });
      } catch (error) {
        absent = error.absent;
        if (!over) setAnswer((old) => ({ data: absent ? null : old.data, error }));
      }
      if (!over && !absent) timer = setTimeout(ask, seconds * 1000);
    }
    ask();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [path, seconds, again]);
  return answer;
}

// Children only when there is an answer to show; else why not, in a sentence.
export function Answered({ answer, what, children }) {
  if (answer.error?.absent) return <p class="quiet">This process does not offer {what}.</p>;
  if (answer.data) return children(answer.data);
  if (answer.error) return <p class="quiet">No {what}: {answer.error.message}.</p>;
  return <p class="quiet">Asking …</p>;
}
