// What a text of the search box may mean beside names: an id or a key, a place in a queue, a time.
//
//   7F000001…                an id, or a key, in all topics
//   orders o-17              a key in a topic
//   orders broker-a:3:120    broker, queue and offset in a topic
//   orders 14:30             a time of today; also 2026-11-19, 2026-11-19 14:30

import { pathOf } from "../data/api";
import type { SearchHit } from "../data/shapes";
import { momentText } from "../parts/fields";
import { t } from "../words";

const PLACE = /^(.+):(\d+):(\d+)$/;
const CLOCK = /^\d{1,2}:\d{2}(:\d{2})?$/;
const DATE = /^\d{4}-\d{2}-\d{2}([ T]\d{1,2}:\d{2}(:\d{2})?)?$/;
const WORD_CHARS_MAX = 1000;

export function lookupsOf(text: string): SearchHit[] {
  const whole = text.trim().slice(0, WORD_CHARS_MAX);
  const [first = "", ...others] = whole.split(/\s+/);
  const rest = others.join(" ");
  const hits: SearchHit[] = [];
  const add = (name: string, asked: Record<string, string>) =>
    hits.push({ kind: "message", name, path: pathOf("/messages", {}, asked), detail: "" });
  const alone = timeOf(whole);
  if (alone !== null) add(t("stored since {time}", { time: whole }), { from: alone });
  else if (rest) {
    const place = PLACE.exec(rest);
    const from = timeOf(rest);
    if (place) {
      const [, broker = "", queue = "", offset = ""] = place;
      const name = t("offset {offset} of queue {queue} in {topic}", {
        offset,
        queue,
        topic: first,
      });
      add(name, { topic: first, by: "offset", broker, queue, offset });
    } else if (from !== null) {
      const name = t("in {topic} since {time}", { topic: first, time: rest });
      add(name, { topic: first, from, order: "oldest" });
    } else {
      add(t("key {key} in {topic}", { key: rest, topic: first }), {
        topic: first,
        by: "key",
        key: rest,
      });
    }
  }
  if (whole !== "") add(t("id or key {word} in all topics", { word: whole }), lookup(whole));
  return hits;
}

const lookup = (word: string) => ({ by: "lookup", word });

/** A time as the field of the messages page takes it; null: the text is none. */
function timeOf(text: string): string | null {
  if (CLOCK.test(text)) {
    const today = momentText(Date.now()).slice(0, 11);
    return valid(today + text.padStart(text.length < 6 ? 5 : 8, "0"));
  }
  if (!DATE.test(text)) return null;
  return valid(text.length === 10 ? `${text}T00:00` : text.replace(" ", "T"));
}

function valid(text: string): string | null {
  return Number.isNaN(new Date(text).getTime()) ? null : text;
}
