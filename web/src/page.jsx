// The page: its head, which is the same everywhere, and the view that the address names.

import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { feed, follow } from "./feed.js";
import { clock, span } from "./format.js";
import { Dialog } from "./parts/dialog.jsx";
import { useRoute } from "./route.js";
import { isDark, startTheme, switchTheme } from "./theme.js";
import { Component } from "./views/component.jsx";
import { Components } from "./views/components.jsx";
import { Configuration } from "./views/configuration.jsx";
import { Failures } from "./views/failures.jsx";
import { Overview } from "./views/overview.jsx";
import { State } from "./views/state.jsx";
import { Tap } from "./views/tap.jsx";
import { Trees } from "./views/trees.jsx";

const views = {
  overview: ["Overview", Overview],
  components: ["Components", Components],
  trees: ["Open trees", Trees],
  failures: ["Failures", Failures],
  tap: ["Tap", Tap],
  state: ["State", State],
  configuration: ["Configuration", Configuration],
};

const commands = {
  activate: {
    title: "Activate the spouts?",
    text: "They are asked for tuples again.",
    button: "Activate",
    path: "/activate",
  },
  deactivate: {
    title: "Deactivate the spouts?",
    text: "They are asked for no more tuples until they are activated; what is open is finished.",
    button: "Deactivate",
    path: "/deactivate",
  },
  drain: {
    title: "Drain the topology, and end it?",
    text: "The spouts stop, what is open is finished, and the process ends. This page can not start it again.",
    button: "Drain and end",
    path: "/drain",
    danger: true,
  },
};

function Mark() {
  return (
    <svg class="gale" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M1.5 6h8a2 2 0 1 0-2-2M1.5 9h11.2a2 2 0 1 1-2 2M1.5 12h5" />
    </svg>
  );
}

function Phase() {
  const { now, state } = feed;
  if (!now) return null;
  const phase = state !== "live" ? "gone" : now.active === false ? "inactive" : now.phase;
  return (
    <span class={`phase ${phase}`} data-phase={phase}>
      {phase}
    </span>
  );
}

function Commands({ ask }) {
  const live = feed.state === "live";
  const onOff = feed.now?.active === false ? "activate" : "deactivate";
  return (
    <>
      {[onOff, "drain"].map((name) => (
        <button key={name} type="button" disabled={!live} onClick={() => ask(commands[name])}>
          {commands[name].button.split(" ")[0]}
        </button>
      ))}
    </>
  );
}

function ThemeSwitch() {
  const [, again] = useState(0);
  return (
    <button
      type="button"
      class="theme"
      aria-label={isDark() ? "Switch to light" : "Switch to dark"}
      onClick={() => {
        switchTheme();
        again((turn) => turn + 1);
      }}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6" />
        <path d="M8 2a6 6 0 0 1 0 12z" />
      </svg>
    </button>
  );
}

function Head({ view, ask }) {
  const { topology, now } = feed;
  return (
    <header class="head">
      <div class="bar">
        <div class="who">
          <a class="home" href="#/" aria-label="gale, overview">
            <Mark />
          </a>
          <h1>{topology ? topology.name : "gale"}</h1>
          <Phase />
          {now && <span class="uptime">up {span(now.uptime)}</span>}
        </div>
        <div class="commands">
          <Commands ask={ask} />
          <ThemeSwitch />
        </div>
      </div>
      <nav aria-label="Views">
        {Object.entries(views).map(([key, [title]]) => (
          <a key={key} href={key === "overview" ? "#/" : `#/${key}`} aria-current={isHere(view, key) ? "page" : undefined}>
            {title}
          </a>
        ))}
      </nav>
    </header>
  );
}

const isHere = (view, key) => view === key || (view === "component" && key === "components");

// What is told when the process does not answer: the page keeps its last figures, and asks again.
function Gone() {
  if (feed.state === "refused")
    return (
      <p class="banner" role="alert">
        This page is not allowed in any more: {feed.why}. Open the address that gale printed when it started.
      </p>
    );
  if (feed.state === "gone")
    return (
      <p class="banner" role="alert">
        {feed.now
          ? `The process has gone: it was last heard at ${clock(feed.heard)}, and these are the figures of then. The page goes on by itself when it is back.`
          : "The process does not answer. The page goes on by itself when it does."}
      </p>
    );
  return null;
}

function Content({ route, ask }) {
  if (!feed.now) return feed.state === "waiting" && <p class="panel quiet">Asking the process …</p>;
  if (route.view === "component") return <Component key={route.name} name={route.name} query={route.query} />;
  const [, View] = views[route.view] || [];
  if (!View) return <p class="panel quiet">There is no view {route.view}.</p>;
  return <View query={route.query} ask={ask} />;
}

const titleOf = (route) => (route.view === "component" ? route.name : views[route.view]?.[0] || "gale");

// Who moves to another view begins at its top, also with the keyboard; Esc leads back to the first screen.
function useMoves(route) {
  const first = useRef(true);
  const key = `${route.view}/${route.name}`;
  useEffect(() => {
    if (!first.current) {
      document.getElementById("main").focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    first.current = false;
  }, [key]);
  useEffect(() => {
    function back(event) {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]")) return;
      if (event.target.matches?.("input, select")) event.target.blur();
      else location.hash = "#/";
    }
    addEventListener("keydown", back);
    return () => removeEventListener("keydown", back);
  }, []);
}

function Page() {
  const route = useRoute();
  const [, again] = useState(0);
  const [asked, ask] = useState(null);
  useEffect(() => follow(() => again((turn) => turn + 1)), []);
  useMoves(route);
  useEffect(() => {
    document.title = `${feed.topology?.name || "gale"} · ${titleOf(route)}`;
  });
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main").focus();
        }}
      >
        To the content
      </a>
      <Head view={route.view} ask={ask} />
      <Gone />
      <main id="main" tabindex={-1} class={feed.state === "live" ? "" : "stale"}>
        <Content route={route} ask={ask} />
      </main>
      <Dialog ask={asked} onClose={() => ask(null)} />
    </>
  );
}

// The token has become a cookie by now; it has no business in the history of a browser.
function hideToken() {
  const address = new URL(location.href);
  if (!address.searchParams.has("token")) return;
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
}

hideToken();
startTheme();
render(<Page />, document.getElementById("page"));
