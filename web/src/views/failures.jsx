// What failed, by reason, and what was given up: dead letters, which can be played again.

import { useState } from "preact/hooks";
import { count, fieldText, when } from "../format.js";
import { feed } from "../feed.js";
import { Answered, Panel, useAnswer } from "../parts/panel.jsx";
import { Table } from "../parts/table.jsx";
import { toComponent } from "../route.js";

const linked = (name) => (name ? <a href={toComponent(name)}>{name}</a> : "–");

const reasonColumns = [
  { key: "component", title: "Component", text: true, value: (row) => row.component, show: (row) => linked(row.component) },
  { key: "reason", title: "Reason", text: true, value: (row) => row.reason },
  { key: "count", title: "Tuples", value: (row) => row.count, show: (_, value) => count(value) },
];

function reasons() {
  return feed.now.components.flatMap((component) =>
    (component.failures || []).filter(({ count }) => count > 0).map((failure) => ({ ...failure, component: component.name })),
  );
}

function letterColumns(chosen, choose) {
  return [
    {
      key: "chosen",
      title: "Replay",
      text: true,
      sort: false,
      value: (row) => chosen.has(row.id),
      show: (row, value) => (
        <input type="checkbox" checked={value} aria-label={`choose dead letter ${row.id}`} onChange={() => choose(row.id)} />
      ),
    },
    { key: "time", title: "Given up", text: true, value: (row) => row.time, show: (_, value) => <time>{when(value)}</time> },
    { key: "spout", title: "Spout", text: true, value: (row) => row.spout, show: (row) => linked(row.spout) },
    { key: "reason", title: "Reason", text: true, value: (row) => row.reason },
    { key: "component", title: "At", text: true, value: (row) => row.component, show: (row) => linked(row.component) },
    { key: "text", title: "Words", text: true, long: true, value: (row) => row.text || "" },
    { key: "attempts", title: "Attempts", value: (row) => row.attempts, show: (_, value) => count(value) },
    {
      key: "values",
      title: "Values",
      text: true,
      long: true,
      sort: false,
      value: (row) => (row.values || []).map(fieldText).join(", "),
      show: (_, value) => <span class="values">{value}</span>,
    },
  ];
}

function Letters({ answer, again, ask }) {
  const [chosen, setChosen] = useState(new Set());
  const [words, setWords] = useState("");
  const choose = (id) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const replay = (body, what) =>
    ask({
      title: `Replay ${what}?`,
      text: "Its spout emits each again, as a tree of its own; the letter stays in its file, and what has been done for it before is done once more.",
      button: "Replay",
      path: "/dead-letters/replay",
      body,
      done: () => {
        setChosen(new Set());
        setWords(`Asked to replay ${what}.`);
        again();
      },
    });
  const dated = answer.letters.some(({ time }) => time !== null);
  const columns = letterColumns(chosen, choose).filter(({ key }) => key !== "time" || dated);
  const here = answer.letters.filter((letter) => chosen.has(letter.id)).map((letter) => letter.id);
  const numbered = (number) => `${count(number)} dead ${number === 1 ? "letter" : "letters"}`;
  return (
    <>
      <p class="quiet">
        {count(answer.total)} since the start{answer.file ? <>, in <code>{answer.file}</code></> : ""}
        {answer.total > answer.letters.length ? `; the newest ${count(answer.letters.length)} are shown` : ""}.
      </p>
      {answer.letters.length > 0 && (
        <div class="buttons left">
          <button type="button" disabled={here.length === 0} onClick={() => replay({ ids: here }, numbered(here.length))}>
            Replay the chosen
          </button>
          <button type="button" onClick={() => replay({ all: true }, "all dead letters of the file")}>
            Replay all
          </button>
        </div>
      )}
      <p role="status" class="said">{words}</p>
      <Table label="Dead letters" columns={columns} rows={answer.letters} rowKey={(row) => row.id} empty="There is no dead letter." />
    </>
  );
}

export function Failures({ ask }) {
  const [turn, setTurn] = useState(0);
  const answer = useAnswer("/dead-letters?max=50", 3, turn);
  return (
    <>
      <Panel id="reasons" title="Failures by reason">
        <Table small label="Failures by reason" columns={reasonColumns} rows={reasons()} rowKey={(row) => `${row.component} ${row.reason}`} empty="Nothing has failed." />
      </Panel>
      <Panel id="letters" title="Dead letters">
        <Answered answer={answer} what="dead letters">
          {(data) => <Letters answer={data} ask={ask} again={() => setTurn(turn + 1)} />}
        </Answered>
      </Panel>
    </>
  );
}
