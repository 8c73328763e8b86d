// A question before something is done to the process, and what became of it. The browser's own dialog keeps the focus inside and
// closes at Esc.

import { useEffect, useRef, useState } from "preact/hooks";
import { post } from "../server.js";

// `ask` is { title, text, button, path, body, done, danger }, or null when nothing is asked.
export function Dialog({ ask, onClose }) {
  const box = useRef();
  const [state, setState] = useState({});
  useEffect(() => {
    setState({});
    if (ask && !box.current.open) box.current.showModal();
    if (!ask && box.current.open) box.current.close();
  }, [ask]);

  async function send(event) {
    event.preventDefault();
    setState({ busy: true });
    try {
      const answer = await post(ask.path, ask.body);
      ask.done?.(answer);
      onClose();
    } catch (error) {
      setState({ error: error.absent ? "This process does not offer that." : error.message });
    }
  }

  return (
    <dialog ref={box} aria-labelledby="dialog-title" onClose={onClose}>
      {ask && (
        <form method="dialog" onSubmit={send}>
          <h2 id="dialog-title">{ask.title}</h2>
          <p>{ask.text}</p>
          {state.error && (
            <p class="bad" role="alert">
              {state.error}
            </p>
          )}
          <div class="buttons">
            <button type="button" onClick={onClose}>
              Leave it
            </button>
            <button type="submit" class={ask.danger ? "danger" : "primary"} disabled={state.busy}>
              {ask.button}
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}
