// How a tree ends that is not acked: a column each, in every view (src/serve/outcomes.h).

export const outcomes = [["failed", "Failed"], ["timed_out", "Timed out"], ["rejected", "Rejected"], ["stopped", "Stopped"]];

export const lostOf = (figures) => outcomes.reduce((sum, [key]) => sum + (figures[key] || 0), 0);

// "57 failed, 3,242 rejected", of those that there are.
export const lostWords = (figures, show) =>
  outcomes
    .filter(([key]) => figures[key] > 0)
    .map(([key, title]) => `${show(figures[key])} ${title.toLowerCase()}`)
    .join(", ");
