// Requests to the process that serves this page, and nobody else.

const root = "api/gale/v1";
const patience = 8000; // ms until a process that does not answer counts as gone

// What went wrong with a request: `status` is HTTP's, or 0 when nobody answered.
export class Refusal extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
  get absent() {
    return this.status === 404 || this.status === 501;
  }
}

export async function open(path, options = {}) {
  let response;
  try {
    response = await fetch(root + path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    throw new Refusal(0, error.name === "AbortError" ? "stopped" : "the process does not answer");
  }
  if (!response.ok) throw new Refusal(response.status, await sentenceOf(response));
  return response;
}

async function sentenceOf(response) {
  try {
    return (await response.json()).error || response.statusText;
  } catch {
    return `the process answered ${response.status} ${response.statusText}`.trim();
  }
}

async function json(path, options) {
  const response = await open(path, { signal: AbortSignal.timeout(patience), ...options });
  try {
    return await response.json();
  } catch {
    throw new Refusal(0, "the answer ended early");
  }
}

export const get = (path) => json(path);

// A header that no form of another site can send, beside what the browser says of the origin.
export function post(path, body = {}) {
  return json(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Gale": "1" },
    body: JSON.stringify(body),
  });
}
