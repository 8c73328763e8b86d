// Where the reader is: the part of the address behind #, so that each view has an address of its own.

import { useEffect, useState } from "preact/hooks";

// "#/component/count?x=1" is { view: "component", name: "count", query }.
export function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [view, ...rest] = path.split("/");
  let name = rest.join("/");
  try {
    name = decodeURIComponent(name);
  } catch {
    // An address that somebody typed: taken by its letters.
  }
  return { view: view || "overview", name, query: new URLSearchParams(query || "") };
}

// A component, and there one of its tasks.
export function toComponent(name, task) {
  return `#/component/${encodeURIComponent(name)}${task ? `?task=${task}` : ""}`;
}

export function toTap(component, stream) {
  return `#/tap?${new URLSearchParams({ component, stream })}`;
}

export function useRoute() {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const moved = () => setRoute(parse(location.hash));
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return route;
}
