// Light, dark or as the system says; the choice is kept for this browser.
import { useEffect, useState } from "preact/hooks";

export type ThemeChoice = "system" | "light" | "dark";
const kKey = "tidepool.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

export function themeChoice(): ThemeChoice {
  const kept = localStorage.getItem(kKey);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === "system") localStorage.removeItem(kKey);
  else localStorage.setItem(kKey, choice);
  applyTheme();
}

export function applyTheme(): void {
  const choice = themeChoice();
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  for (const listener of [...listeners]) listener();
}

export function isDark(): boolean {
  const choice = themeChoice();
  return choice === "system" ? system.matches : choice === "dark";
}

system.addEventListener("change", () => { for (const listener of [...listeners]) listener(); });

export function useDark(): boolean {
  const [dark, setDark] = useState(isDark());
  useEffect(() => {
    const update = () => setDark(isDark());
    listeners.add(update);
    update();
    return () => { listeners.delete(update); };
  }, []);
  return dark;
}

// The colour a custom property has now, for canvases, which do not know custom properties.
export function cssColour(name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}
