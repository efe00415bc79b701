// The keyboard: / searches, g and a letter opens a page, ? shows this list.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { go } from "../data/address";
import { nextTheme } from "../data/preferences";
import { Button } from "../parts/basics";
import { t } from "../words";
import { placesOfRole } from "./pages";

const SECOND_KEY_MS = 1200;
const isHelpOpen = signal(false);

export function watchKeys(): () => void {
  let waitsUntil = 0;
  const onKey = (event: KeyboardEvent) => {
    const at = event.target as HTMLElement;
    const isTyping = at.matches("input, textarea, select") || at.closest("dialog") !== null;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (performance.now() < waitsUntil) {
      waitsUntil = 0;
      const place = placesOfRole().find(({ key }) => key === event.key);
      if (place) go(`/${place.path}`);
      return;
    }
    if (event.key === "g") waitsUntil = performance.now() + SECOND_KEY_MS;
    else if (event.key === "/") {
      event.preventDefault();
      document.getElementById("search")?.focus();
    } else if (event.key === "?") isHelpOpen.value = true;
    else if (event.key === "D") nextTheme();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

export function KeyHelp() {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isHelpOpen.value) box.current?.showModal();
  }, [isHelpOpen.value]);
  if (!isHelpOpen.value) return null;
  const close = () => {
    isHelpOpen.value = false;
  };
  const keys: [string, string][] = [
    ["/", t("Search everything")],
    ["↑ ↓ j k", t("Row by row in a table")],
    ["D", t("Light or dark")],
    ["?", t("This list")],
    ...placesOfRole().map((place): [string, string] => [`g ${place.key}`, t(place.name)]),
  ];
  return (
    <dialog ref={box} class="dialog" onClose={close} aria-labelledby="keys-title">
      <h2 id="keys-title">{t("Keys")}</h2>
      <dl class="keys">
        {keys.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-foot">
        <Button onClick={close}>{t("Close")}</Button>
      </div>
    </dialog>
  );
}
