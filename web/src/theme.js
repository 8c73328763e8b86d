// Light or dark: as the system has it, until the switch says otherwise; the switch is remembered where the browser lets it.

const key = "gale-theme";

function remembered() {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function startTheme() {
  const chosen = remembered();
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}

export function switchTheme() {
  const chosen = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // The choice holds for this page.
  }
}

// What a colour of page.css is at present, for what is drawn without CSS.
export function colour(name) {
  const probe = document.createElement("i");
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
