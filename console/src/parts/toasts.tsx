// Short news at the edge of the window: what was done, or why it was not.

import { signal } from "@preact/signals";
import { asError } from "../data/resource";
import { t } from "../words";
import { Icon } from "./Icon";

interface Toast {
  id: number;
  text: string;
  hint: string;
  isBad: boolean;
}

const SHOWN_MS = 6000;
const toasts = signal<Toast[]>([]);
let last = 0;

function show(text: string, hint: string, isBad: boolean): void {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-4), { id, text, hint, isBad }];
  if (!isBad) setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function tell(text: string): void {
  show(text, "", false);
}

/** Bad news stays until it is put away. */
export function complain(error: unknown): void {
  const { message, hint } = asError(error);
  show(message, hint, true);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast ${toast.isBad ? "bad" : "good"}`}>
          <Icon name={toast.isBad ? "warning" : "ok"} />
          <span>
            {toast.text}
            {toast.hint && <span class="muted"> · {toast.hint}</span>}
          </span>
          <button
            type="button"
            class="icon-button"
            aria-label={t("Close")}
            onClick={() => dismiss(toast.id)}
          >
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
