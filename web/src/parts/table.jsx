// A table that can be sorted by each column. On a narrow screen each row is a card, with its titles beside its figures, so that
// nothing has to be moved sideways; the roles say that it is a table still.
//
// A column is { key, title, value(row), show(row, value), text, long, hint, sort }: `text` columns stand left, figures right; `long`
// ones may have many words; sort: false for a column that has no order.

import { useState } from "preact/hooks";

function compare(a, b) {
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return typeof a === "string" ? a.localeCompare(b) : a - b;
}

function sorted(rows, columns, order) {
  const column = columns.find(({ key }) => key === order.key);
  if (!column) return rows;
  const sign = order.down ? -1 : 1;
  return rows
    .map((row, place) => [row, place])
    .sort(([a, i], [b, j]) => sign * compare(column.value(a), column.value(b)) || i - j)
    .map(([row]) => row);
}

// Figures are first shown the largest first, words from a to z; the third time is the order that the table had.
function next(order, column) {
  const first = !column.text;
  if (order.key !== column.key) return { key: column.key, down: first };
  return order.down === first ? { key: column.key, down: !first } : {};
}

function Head({ column, order, onOrder }) {
  const here = order.key === column.key;
  const direction = here ? (order.down ? "descending" : "ascending") : undefined;
  return (
    <th role="columnheader" scope="col" class={column.text ? "words" : ""} aria-sort={direction} title={column.hint}>
      {column.sort === false ? (
        column.title
      ) : (
        <button type="button" onClick={() => onOrder(next(order, column))}>
          {here && <span aria-hidden="true">{order.down ? "↓" : "↑"}</span>}
          {column.title}
        </button>
      )}
    </th>
  );
}

function Cell({ column, row, first }) {
  const value = column.value(row);
  const shown = column.show ? column.show(row, value) : value;
  const kind = [column.text ? "words" : "figure", column.long && "long", first && "name"].filter(Boolean).join(" ");
  return (
    <td role="cell" class={kind} data-title={column.title} data-key={column.key}>
      {shown}
    </td>
  );
}

function SortChoice({ columns, order, onOrder }) {
  const able = columns.filter((column) => column.sort !== false);
  return (
    <label class="sort-choice">
      Sorted by{" "}
      <select
        value={order.key || ""}
        onChange={(event) => {
          const column = able.find(({ key }) => key === event.target.value);
          onOrder(column ? { key: column.key, down: !column.text } : {});
        }}
      >
        <option value="">as it comes</option>
        {able.map((column) => (
          <option key={column.key} value={column.key}>
            {column.title}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Table({ label, columns, rows, rowKey, rowClass, empty, small, choice = true }) {
  const [order, setOrder] = useState({});
  if (!rows || rows.length === 0) return <p class="quiet">{empty || "There is none."}</p>;
  return (
    <>
      {choice && rows.length > 1 && <SortChoice columns={columns} order={order} onOrder={setOrder} />}
      <table role="table" aria-label={label} class={small ? "small" : ""}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Head key={column.key} column={column} order={order} onOrder={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {sorted(rows, columns, order).map((row) => (
            <tr role="row" key={rowKey(row)} class={rowClass?.(row)} data-row={rowKey(row)}>
              {columns.map((column, place) => (
                <Cell key={column.key} column={column} row={row} first={place === 0} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
