// Icons as paths of 16 units, drawn in the colour of the text beside them.

const PATHS = {
  overview: "M2 9l4-5 3 4 2-2 3 3M2 13h12",
  topics: "M2 4h12M2 8h12M2 12h8",
  groups:
    "M5 7a2 2 0 100-4 2 2 0 000 4zm6 0a2 2 0 100-4 2 2 0 000 4zM1.5 13c0-2 1.5-4 3.5-4s3.5 2 3.5 4m1-3.6c.4-.3.9-.4 1.5-.4 2 0 3.5 2 3.5 4",
  messages: "M2 3h12v8H7l-3 3v-3H2z",
  brokers: "M3 2h10v5H3zm0 7h10v5H3zM5.5 4.5h1m-1 7h1",
  clients: "M2 3h12v8H2zm4 11h4m-2-3v3",
  dead: "M3 5h10l-1 9H4zm-1 0h12M6 5V2.5h4V5M6.5 8v3m3-3v3",
  delayed: "M8 14A6 6 0 108 2a6 6 0 000 12zM8 5v3l2 2",
  transactions: "M2 5h10m-3-3l3 3-3 3m5 3H4m3-3l-3 3 3 3",
  pipeline: "M2 4h4v4h4v4h4M2 4v0m8 8v0",
  users: "M8 7.5a2.5 2.5 0 100-5 2.5 2.5 0 000 5zM3 14c0-3 2-5 5-5s5 2 5 5",
  audit: "M4 2h6l3 3v9H4zm2.500 6h4m-4 3h4",
  bench: "M3 12a6 6 0 1110 0M8 10l3-4",
  search: "M7 12A5 5 0 107 2a5 5 0 000 10zm3.500-1.500L14 14",
  close: "M4 4l8 8m0-8l-8 8",
  copy: "M5 5h8v9H5zm-2 6V2h7",
  theme: "M8 14A6 6 0 108 2v12z",
  menu: "M2 4h12M2 8h12M2 12h12",
  warning: "M8 2l6.500 12h-13zM8 6.500V10m0 2v.5",
  ok: "M3 8.500L6.500 12 13 4.500",
  info: "M8 14A6 6 0 108 2a6 6 0 000 12zM8 7.500V11M8 5v.5",
  plus: "M8 3v10M3 8h10",
  stop: "M4 4h8v8H4z",
  play: "M5 3l8 5-8 5z",
  up: "M8 13V4M4 8l4-4 4 4",
  down: "M8 3v9M4 8l4 4 4-4",
  language: "M2 4h7M5.500 2v2m2 0c-.5 3-2 5-5 6.500M4 6c.8 2 2 3.500 4 4.500M8 14l3-7 3 7m-5-2h4",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
