// "Copy as aerobee / curl / Python": the same action for a terminal or a program.

import { useEffect } from "preact/hooks";
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

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(t("Copied"));
  } catch (error) {
    complain(error);
  }
}
