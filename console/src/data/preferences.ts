// What a reader chose for this browser: colours and language. Kept in its local storage.

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
export type Language = "en" | "zh";

export const theme = signal<Theme>(stored("theme", ["system", "light", "dark"]) ?? "system");
export const language = signal<Language>(
  stored("language", ["en", "zh"]) ?? (navigator.language.startsWith("zh") ? "zh" : "en"),
);
/** Counts changes of colours, so that what is drawn on a canvas is drawn anew. */
export const repaint = signal(0);

function stored<Value extends string>(name: string, allowed: Value[]): Value | null {
  const value = localStorage.getItem(`aerobee.${name}`) as Value | null;
  return value !== null && allowed.includes(value) ? value : null;
}

export function applyPreferences(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    localStorage.setItem("aerobee.theme", theme.value);
    repaint.value = repaint.peek() + 1;
  });
  effect(() => {
    document.documentElement.lang = language.value === "zh" ? "zh-CN" : "en";
    localStorage.setItem("aerobee.language", language.value);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    repaint.value++;
  });
}

export function nextTheme(): void {
  const order: Theme[] = ["system", "light", "dark"];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? "system";
}
