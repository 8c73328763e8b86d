// Open trees, the oldest first, with the place where each stands.

import { count, duration } from "../format.js";
import { feed } from "../feed.js";
import { Answered, Panel, useAnswer } from "../parts/panel.jsx";
import { Table } from "../parts/table.jsx";
import { toComponent } from "../route.js";

const columns = [
  { key: "age", title: "Age", text: true, value: (row) => row.age, show: (_, value) => duration(value) },
  { key: "spout", title: "Spout", text: true, value: (row) => row.spout, show: (row) => <a href={toComponent(row.spout)}>{row.spout}</a> },
  { key: "message", title: "Message", text: true, value: (row) => row.message_id },
  {
    key: "component",
    title: "At",
    text: true,
    value: (row) => row.component,
    show: (row) => (row.component ? <a href={toComponent(row.component)}>{row.component}</a> : "–"),
  },
  { key: "place", title: "Place", text: true, long: true, value: (row) => row.text || row.place },
];

export function Trees() {
  const answer = useAnswer("/open-trees?max=50", 2);
  return (
    <Panel id="trees" title="Open trees" note={`${count(feed.now.trees.open)} are open; the oldest are first`}>
      <Answered answer={answer} what="open trees">
        {(trees) => (
          <Table
            label="Open trees"
            columns={columns}
            rows={trees}
            rowKey={(row) => `${row.spout} ${row.task} ${row.message_id} ${trees.indexOf(row)}`}
            empty="No tree is open."
          />
        )}
      </Answered>
    </Panel>
  );
}
