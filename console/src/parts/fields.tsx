// Fields of forms and filters: a label, an input, a hint.

import { useEffect, useState } from "preact/hooks";
import { t } from "../words";
import { Icon } from "./Icon";

export interface Field {
  name: string;
  label: string;
  kind: keyof typeof INPUT_TYPES | "select" | "area";
  options?: { value: string; label: string }[];
  initial?: string;
  hint?: string;
  isNeeded?: boolean;
}

const INPUT_TYPES = {
  text: "text",
  number: "number",
  password: "password",
  moment: "datetime-local",
  check: "checkbox",
} as const;

export type Values = Record<string, string>;

interface FieldProps {
  field: Field;
  value: string;
  onChange: (value: string) => void;
  /** Of its id: a form on a page and a dialog over it may have fields of the same name. */
  prefix?: string;
}

export function FieldInput({ field, value, onChange, prefix = "field" }: FieldProps) {
  const id = `${prefix}-${field.name}`;
  if (field.kind === "check") {
    return (
      <label class="check" for={id}>
        <input
          id={id}
          type="checkbox"
          checked={value === "true"}
          onChange={(event) => onChange(String(event.currentTarget.checked))}
        />
        {field.label}
      </label>
    );
  }
  return (
    <div class="field">
      <label for={id}>{field.label}</label>
      <Control id={id} field={field} value={value} onChange={onChange} />
      {field.hint && (
        <p class="hint" id={`${id}-hint`}>
          {field.hint}
        </p>
      )}
    </div>
  );
}

function Control({ id, field, value, onChange }: FieldProps & { id: string }) {
  const common = {
    id,
    value,
    required: field.isNeeded ?? false,
    "aria-describedby": field.hint ? `${id}-hint` : undefined,
  };
  if (field.kind === "select") {
    return (
      <select {...common} onChange={(event) => onChange(event.currentTarget.value)}>
        {field.options?.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    );
  }
  if (field.kind === "area") {
    return (
      <textarea
        {...common}
        rows={5}
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  // The typings want one type of input for each place; all of these have the same properties.
  const type = INPUT_TYPES[field.kind] as "text";
  return (
    <input
      {...common}
      type={type}
      step={field.kind === "number" ? "any" : field.kind === "moment" ? 1 : undefined}
      autocomplete="off"
      spellcheck={false}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface FilterProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  className?: string;
}

/** A text filter that waits for a pause in the typing. */
export function Filter({ label, value, onChange, className = "" }: FilterProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <span class={`filter ${className}`}>
      <Icon name="search" />
      <input
        type="search"
        value={text}
        placeholder={label}
        aria-label={label}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </span>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: { value: string; label: string }[];
  onChange: (value: string) => void;
}

export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <select
      class="choice"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

/** The time of a field of a date and a time, in milliseconds; null where it is empty. */
export function momentOf(text: string | undefined): number | null {
  if (!text) return null;
  const value = new Date(text).getTime();
  return Number.isNaN(value) ? null : value;
}

/** The same the other way, in the reader's time zone. */
export function momentText(value: number): string {
  const date = new Date(value - new Date(value).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 19);
}

export function yes(): { value: string; label: string }[] {
  return [
    { value: "true", label: t("yes") },
    { value: "false", label: t("no") },
  ];
}
