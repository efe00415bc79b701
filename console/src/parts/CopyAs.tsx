// "Copy as aerobee / curl / Python": the same action for a terminal or a program.

import { useEffect, useState } from "preact/hooks";
import { needDescription } from "../data/description";
import { type Request, recipesOf } from "../data/recipe";
import { t } from "../words";
import { Icon } from "./Icon";
import { complain, tell } from "./toasts";

export function CopyAs({ request }: { request: Request }) {
  const recipes = recipesOf(request);
  useEffect(() => {
    needDescription().catch(complain);
  }, []);
  return (
    <div class="copy-as">
      <Icon name="copy" />
      <span class="muted">{t("Copy as")}</span>
      {recipes.map((recipe) => (
        <button
          type="button"
          key={recipe.kind}
          class="link-button"
          title={recipe.text}
          onClick={() => void copy(recipe.text)}
        >
          {recipe.kind}
        </button>
      ))}
    </div>
  );
}

/** The call by which a page gets what it shows. The templates are asked for when it is opened: a page
 *  alone makes one call. */
export function PageRequest({ request }: { request: Request }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="page-request" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("This page as a call")}</summary>
      {isOpen && <CopyAs request={request} />}
    </details>
  );
}

/** A GET of the page: what has no value, or its usual one, is left out. */
export function getOf(
  template: string,
  parameters: Record<string, string> = {},
  query: NonNullable<Request["query"]> = {},
): Request {
  const usual: Record<string, string> = { sort: "name", kind: "normal" };
  const told = Object.entries(query).filter(([name, value]) => value && value !== usual[name]);
  return { method: "GET", template, parameters, query: Object.fromEntries(told) };
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(t("Copied"));
  } catch (error) {
    complain(error);
  }
}
