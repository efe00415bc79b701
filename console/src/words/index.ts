// Words of the console in the reader's language. The English phrase is the key: the compiler refuses
// one that has no translation.

import { language } from "../data/preferences";
import { zh } from "./zh";

export type Phrase = keyof typeof zh;

/** {name} in a phrase is replaced by a value. */
export function t(phrase: Phrase, values: Record<string, string | number> = {}): string {
  const text: string = language.value === "zh" ? zh[phrase] : phrase;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
