// The choice of the time that all charts of a page show.

import { query } from "../data/address";
import { chooseRange, RANGES, type RangeName, spanNow } from "../data/series";
import { t } from "../words";
import { time } from "../words/figures";

export function TimeRange() {
  const { from, to } = query.value;
  const span = spanNow();
  return (
    <fieldset class="segments">
      <legend class="hidden">{t("Time shown")}</legend>
      {(Object.keys(RANGES) as RangeName[]).map((name) => (
        <button
          type="button"
          key={name}
          class={span.name === name ? "chosen" : ""}
          aria-pressed={span.name === name}
          onClick={() => chooseRange(name)}
        >
          {name}
        </button>
      ))}
      {span.name === null && (
        <span class="segment-note" title={`${time(Number(from))} – ${time(Number(to))}`}>
          {t("zoomed")}
        </span>
      )}
    </fieldset>
  );
}
