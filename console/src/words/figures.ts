// Figures as text: short, aligned, in the reader's language. A value that is not known is a dash.

import { language } from "../data/preferences";

const DASH = "–";
const locale = () => (language.value === "zh" ? "zh-CN" : "en-GB");

export function count(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  return Math.round(value).toLocaleString(locale());
}

/** Three digits at most, and a unit: 1.2 k, 34 M. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  for (const [size, unit] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e4, "k"],
  ] as const) {
    if (Math.abs(value) >= size) {
      const divided = value / (unit === "k" ? 1e3 : size);
      return `${divided.toFixed(Math.abs(divided) < 100 ? 1 : 0)} ${unit}`;
    }
  }
  return Number.isInteger(value) || Math.abs(value) >= 100 ? count(value) : value.toFixed(1);
}

export function rate(value: number | null | undefined): string {
  return value === null || value === undefined ? DASH : `${short(value)}/s`;
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let rest = value;
  while (rest >= 1024 && unit < units.length - 1) {
    rest /= 1024;
    unit++;
  }
  return `${unit === 0 || rest >= 100 ? Math.round(rest) : rest.toFixed(1)} ${units[unit]}`;
}

export function bytesRate(value: number | null | undefined): string {
  return value === null || value === undefined ? DASH : `${bytes(value)}/s`;
}

export function percent(value: number | null | undefined): string {
  return value === null || value === undefined ? DASH : `${(value * 100).toFixed(1)} %`;
}

export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  if (value < 10) return `${value.toFixed(2)} ms`;
  return value < 1000 ? `${Math.round(value)} ms` : duration(value);
}

export function duration(value: number | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  const seconds = Math.abs(value) / 1000;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  if (seconds < 86400)
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor((seconds % 86400) / 3600)} h`;
}

export function ago(value: number | null | undefined): string {
  if (value === null || value === undefined || value <= 0) return DASH;
  const words = new Intl.RelativeTimeFormat(locale(), { numeric: "auto", style: "short" });
  const seconds = (value - Date.now()) / 1000;
  if (Math.abs(seconds) < 60) return words.format(Math.round(seconds), "second");
  if (Math.abs(seconds) < 3600) return words.format(Math.round(seconds / 60), "minute");
  if (Math.abs(seconds) < 86400) return words.format(Math.round(seconds / 3600), "hour");
  return words.format(Math.round(seconds / 86400), "day");
}

const pad = (value: number, digits = 2) => String(value).padStart(digits, "0");

/** 2026-11-18 09:45:12.345, in the reader's time zone. */
export function time(value: number | null | undefined): string {
  if (value === null || value === undefined || value <= 0) return DASH;
  const date = new Date(value);
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day} ${clock(value)}.${pad(date.getMilliseconds(), 3)}`;
}

export function clock(value: number): string {
  const date = new Date(value);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
}
