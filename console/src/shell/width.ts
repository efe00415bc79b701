// Whether the window is as narrow as a phone.

import { signal } from "@preact/signals";

const narrow = matchMedia("(max-width: 760px)");

export const isNarrow = signal(narrow.matches);

narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
});
