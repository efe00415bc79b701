// The log-in page. The address stays, so that the page that was asked for is shown afterwards.

import { useState } from "preact/hooks";
import icon from "../../icon.svg";
import { type ApiError, logIn } from "../data/api";
import { asError } from "../data/resource";
import { Failure } from "../parts/basics";
import { FieldInput } from "../parts/fields";
import { t } from "../words";

export function LogIn() {
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const [error, setError] = useState<ApiError | null>(null);
  const submit = (event: Event) => {
    event.preventDefault();
    logIn(user, password).catch((failed) => setError(asError(failed)));
  };
  return (
    <main class="log-in" id="main">
      <form onSubmit={submit}>
        <h1>
          <img src={icon} alt="" width="32" height="32" /> Aerobee
        </h1>
        <FieldInput
          field={{ name: "user", label: t("User"), kind: "text", isNeeded: true }}
          value={user}
          onChange={setUser}
        />
        <FieldInput
          field={{ name: "password", label: t("Password"), kind: "password", isNeeded: true }}
          value={password}
          onChange={setPassword}
        />
        {error && <Failure error={error} />}
        <button type="submit" class="button primary">
          {t("Log in")}
        </button>
      </form>
    </main>
  );
}
