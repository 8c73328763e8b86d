// Figures as text. Counts are exact; rates, times and sizes have three digits that matter, so that they keep their width.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const none = "–";

const known = (value) => value !== null && value !== undefined && Number.isFinite(value);

function threeDigits(value) {
  const size = Math.abs(value);
  if (size >= 99.95 || value === 0) return value.toFixed(0);
  return value.toFixed(size >= 9.995 ? 1 : 2);
}

export function count(value) {
  return known(value) ? whole.format(value) : none;
}

export function compact(value) {
  if (!known(value)) return none;
  const size = Math.abs(value);
  if (size < 999.5) return size < 9.995 && !Number.isInteger(value) ? value.toFixed(1) : value.toFixed(0);
  if (size < 999500) return threeDigits(value / 1e3) + "k";
  if (size < 999500000) return threeDigits(value / 1e6) + "M";
  return threeDigits(value / 1e9) + "G";
}

export function perSecond(value) {
  return known(value) ? compact(value) + "/s" : none;
}

export function share(value) {
  return known(value) ? `${Math.round(value * 100)} %` : none;
}

export function bytes(value) {
  if (!known(value)) return none;
  if (value < 1024) return `${Math.round(value)} B`;
  for (const unit of ["KiB", "MiB", "GiB"]) {
    value /= 1024;
    if (value < 999.5 || unit === "GiB") return `${threeDigits(value)} ${unit}`;
  }
}

// How long something takes or took.
export function duration(seconds) {
  if (!known(seconds)) return none;
  if (seconds === 0) return "0 s";
  if (seconds < 0.9995e-6) return `${threeDigits(seconds * 1e9)} ns`;
  if (seconds < 0.9995e-3) return `${threeDigits(seconds * 1e6)} µs`;
  if (seconds < 0.9995) return `${threeDigits(seconds * 1e3)} ms`;
  return seconds < 99.95 ? `${threeDigits(seconds)} s` : span(seconds);
}

// How long something has been so: in its two largest units.
export function span(seconds) {
  if (!known(seconds)) return none;
  const left = Math.max(0, Math.floor(seconds));
  const units = [
    [86400, "d"],
    [3600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const first = units.findIndex(([size]) => left >= size);
  if (first < 0) return "0 s";
  const [size, name] = units[first];
  const rest = units[first + 1];
  const text = `${Math.floor(left / size)} ${name}`;
  return rest ? `${text} ${Math.floor((left % size) / rest[0])} ${rest[1]}` : text;
}

const clockOf = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayOf = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit" });

export function clock(unix) {
  return known(unix) ? clockOf.format(unix * 1000) : none;
}

export function when(unix) {
  return known(unix) ? `${dayOf.format(unix * 1000)} ${clockOf.format(unix * 1000)}` : none;
}

// A value of a tuple, as its field's text.
export function fieldText(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}
