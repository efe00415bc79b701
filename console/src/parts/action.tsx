// One action, as a dialog: its fields, what it would do, the name to repeat, and its recipes.
// Every change that the console can make goes through here.

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../data/api";
import { call, type Method, may, pathOf } from "../data/api";
import { asError } from "../data/resource";
import type { Role } from "../data/shapes";
import { t } from "../words";
import { duration } from "../words/figures";
import { Button, Failure } from "./basics";
import { CopyAs } from "./CopyAs";
import { type Field, FieldInput, type Values } from "./fields";
import type { IconName } from "./Icon";
import { tell } from "./toasts";

export interface Answer {
  done?: string;
  would?: string;
  preview?: Record<string, unknown>;
}

export interface Action {
  title: string;
  role: Role;
  method: Method;
  template: string;
  parameters?: Record<string, string>;
  fields?: Field[];
  /** The request's body from the values of the fields; what is undefined is left out of it. */
  body?: (values: Values) => Record<string, unknown>;
  /** The name that must be repeated. */
  confirm?: string;
  /** The server can say first what would happen. */
  hasPreview?: boolean;
  preview?: (answer: Answer) => ComponentChildren;
  isDanger?: boolean;
  /** The seconds that it takes by what was foreseen, of one that takes long: its progress is shown,
   *  and the server ends it when it is stopped here. */
  seconds?: (answer: Answer, values: Values) => number;
  text?: string;
  onDone?: (answer: Answer) => void;
}

const open = signal<Action | null>(null);

export function start(action: Action): void {
  open.value = action;
}

interface ActionButtonProps {
  action: Action;
  icon?: IconName;
  look?: "plain" | "primary" | "danger" | "quiet";
  children: ComponentChildren;
}

/** A button that only those see who may do what it does. */
export function ActionButton({ action, icon, look, children }: ActionButtonProps) {
  if (!may(action.role)) return null;
  return (
    <Button onClick={() => start(action)} {...(icon ? { icon } : {})} {...(look ? { look } : {})}>
      {children}
    </Button>
  );
}

export function ActionHost() {
  const action = open.value;
  return action ? <ActionDialog key={action.title} action={action} /> : null;
}

function ActionDialog({ action }: { action: Action }) {
  const box = useRef<HTMLDialogElement>(null);
  const [values, setValues] = useState<Values>(() => initialValues(action));
  const [typed, setTyped] = useState("");
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const body = bodyOf(action, values);
  const foreseen = usePreview(action, body);
  const abort = useRef(new AbortController());
  useEffect(() => box.current?.showModal(), []);
  const close = () => {
    open.value = null;
  };
  const run = async () => {
    setRunning(true);
    setError(null);
    try {
      const sent = action.confirm ? { ...body, confirm: typed } : body;
      const path = pathOf(action.template, action.parameters);
      abort.current = new AbortController();
      const signal = abort.current.signal;
      const answer = await call<Answer | undefined>(action.method, path, sent, signal);
      close();
      tell(answer?.done ?? t("Done"));
      action.onDone?.(answer ?? {});
    } catch (failed) {
      if (abort.current.signal.aborted) {
        close();
        tell(t("Stopped: the audit says how far it came"));
        return;
      }
      setError(asError(failed));
      setRunning(false);
    }
  };
  const isReady = !action.confirm || typed === action.confirm;
  return (
    <dialog ref={box} class="dialog" onClose={close} aria-labelledby="dialog-title">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady && !isRunning) void run();
        }}
      >
        <h2 id="dialog-title">{action.title}</h2>
        {action.text && <p class="muted">{action.text}</p>}
        {action.fields?.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={values[field.name] ?? ""}
            onChange={(value) => setValues((old) => ({ ...old, [field.name]: value }))}
          />
        ))}
        {foreseen && <Foreseen answer={foreseen} action={action} />}
        {action.confirm && <Confirm name={action.confirm} typed={typed} onTyped={setTyped} />}
        {error && <Failure error={error} />}
        {isRunning && action.seconds && foreseen && !(foreseen instanceof Error) && (
          <Elapsed
            seconds={action.seconds(foreseen, values)}
            onStop={() => abort.current.abort()}
          />
        )}
        <div class="dialog-foot">
          <CopyAs
            request={{
              method: action.method,
              template: action.template,
              parameters: action.parameters ?? {},
              body: action.confirm ? { ...body, confirm: action.confirm } : body,
            }}
          />
          <span class="dialog-buttons">
            <Button onClick={close}>{t("Cancel")}</Button>
            <button
              type="submit"
              class={`button ${action.isDanger ? "danger" : "primary"}`}
              disabled={!isReady || isRunning}
            >
              {isRunning ? t("Running…") : action.title}
            </button>
          </span>
        </div>
      </form>
    </dialog>
  );
}

/** The progress of what lasts as long as was foreseen. */
function Elapsed({ seconds, onStop }: { seconds: number; onStop: () => void }) {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const begun = performance.now();
    const timer = setInterval(() => setPassed((performance.now() - begun) / 1000), 250);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="job" role="status">
      <Button icon="stop" onClick={onStop}>
        {t("Stop")}
      </Button>
      <progress value={passed} max={seconds} aria-label={t("Running…")} />
      <span>{t("about {time}", { time: duration(seconds * 1000) })}</span>
    </div>
  );
}

function Confirm({
  name,
  typed,
  onTyped,
}: {
  name: string;
  typed: string;
  onTyped: (text: string) => void;
}) {
  return (
    <div class="field">
      <label for="confirm">
        {t("Type the name to confirm:")} <code>{name}</code>
      </label>
      <input
        id="confirm"
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => onTyped(event.currentTarget.value)}
      />
    </div>
  );
}

function Foreseen({ answer, action }: { answer: Answer | ApiError; action: Action }) {
  if (answer instanceof Error) return <Failure error={answer} />;
  return (
    <div class={`foreseen ${action.isDanger ? "warn" : ""}`} role="status">
      <p>
        <b>{t("What would happen:")}</b> {answer.would}
      </p>
      {action.preview?.(answer)}
    </div>
  );
}

/** What the action would do with the values of now; asked after a pause in the typing. */
function usePreview(action: Action, body: Record<string, unknown>): Answer | ApiError | null {
  const [answer, setAnswer] = useState<Answer | ApiError | null>(null);
  const asked = JSON.stringify(body);
  useEffect(() => {
    if (!action.hasPreview) return;
    const abort = new AbortController();
    const path = pathOf(action.template, action.parameters);
    const timer = setTimeout(() => {
      call<Answer>(action.method, path, { ...body, dry_run: true }, abort.signal)
        .then(setAnswer)
        .catch((error) => !abort.signal.aborted && setAnswer(asError(error)));
    }, 250);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [asked]);
  return answer;
}

function initialValues(action: Action): Values {
  return Object.fromEntries(
    (action.fields ?? []).map((field) => [field.name, field.initial ?? ""]),
  );
}

function bodyOf(action: Action, values: Values): Record<string, unknown> {
  const made = action.body?.(values) ?? {};
  return Object.fromEntries(
    Object.entries(made).filter(([, value]) => value !== undefined && value !== ""),
  );
}
