// Small parts that every page is made of: pills, facts, bars, notes, empty pages.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiError } from "../data/api";
import type { Request } from "../data/recipe";
import type { Finding, Unknown } from "../data/shapes";
import { t } from "../words";
import { count } from "../words/figures";
import { PageRequest } from "./CopyAs";
import { Icon, type IconName } from "./Icon";

export type Tone = "plain" | "good" | "warn" | "bad" | "accent";

export function Pill({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`pill ${tone}`}>{children}</span>;
}

interface PageHeadProps {
  title: string;
  kind?: string;
  children?: ComponentChildren;
  below?: ComponentChildren;
  /** The call that tells what the page shows. */
  request?: Request;
}

/** The head of a page: its name, and its actions on the right. */
export function PageHead({ title, kind, children, below, request }: PageHeadProps) {
  return (
    <header class="page-head">
      <div class="page-name">
        {kind && <span class="kind">{kind}</span>}
        <h1>{title}</h1>
        {below}
      </div>
      <div class="page-actions">
        {children}
        {request && <PageRequest request={request} />}
      </div>
    </header>
  );
}

interface SectionProps {
  title: string;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Section({ title, note, actions, children }: SectionProps) {
  return (
    <section class="section">
      <div class="section-head">
        <h2>{title}</h2>
        {note && <span class="muted">{note}</span>}
        <div class="section-actions">{actions}</div>
      </div>
      {children}
    </section>
  );
}

export type Fact = [label: string, value: ComponentChildren];

export function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A share as a bar, with its text beside it. */
export function Bar({
  share,
  text,
  tone = "accent",
}: {
  share: number;
  text: string;
  tone?: Tone;
}) {
  const width = `${Math.min(Math.max(share, 0), 1) * 100}%`;
  return (
    <span class="bar">
      <span class="bar-rail" aria-hidden="true">
        <span class={`bar-fill ${tone}`} style={{ width }} />
      </span>
      <span class="bar-text">{text}</span>
    </span>
  );
}

interface EmptyProps {
  icon: IconName;
  title: string;
  children?: ComponentChildren;
}

/** A page or table that has nothing to show says what to do next. */
export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <p class="empty-title">{title}</p>
      <div class="empty-text">{children}</div>
    </div>
  );
}

export function Command({ text }: { text: string }) {
  return <code class="command">{text}</code>;
}

export function Failure({ error }: { error: ApiError }) {
  if (error.code === "not_supported") {
    return (
      <Empty icon="info" title={error.message}>
        {error.hint}
      </Empty>
    );
  }
  return (
    <div class="notice bad" role="alert">
      <Icon name="warning" />
      <span>
        {error.message}
        {error.hint && <span class="muted"> · {error.hint}</span>}
      </span>
    </div>
  );
}

/** A page that could not be made. */
export function FailedPage({ error }: { error: ApiError }) {
  return (
    <>
      <PageHead title={t("This cannot be shown")} />
      <Failure error={error} />
    </>
  );
}

/** What this cluster cannot tell, and why. */
export function UnknownNotes({ unknown }: { unknown: Unknown }) {
  const texts = [...new Set(Object.values(unknown))];
  if (texts.length === 0) return null;
  return (
    <details class="unknown">
      <summary>{t("Not known here: {count}", { count: texts.length })}</summary>
      <ul>
        {texts.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </details>
  );
}

/** A count that steps back where it is nothing, so that the others are seen. */
export function Zeroed({ value }: { value: number | null }) {
  return <span class={value ? "" : "muted"}>{count(value)}</span>;
}

/** What lasts longer than a second can be stopped. */
export function Loading({ onStop }: { onStop?: () => void }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 1000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="loading" role="status">
      {t("Loading…")}
      {onStop && isLong && (
        <Button icon="stop" onClick={onStop}>
          {t("Stop")}
        </Button>
      )}
    </div>
  );
}

const SEVERITY: Record<Finding["severity"], { tone: Tone; icon: IconName }> = {
  ok: { tone: "good", icon: "ok" },
  info: { tone: "accent", icon: "info" },
  warning: { tone: "warn", icon: "warning" },
};

export function Findings({ findings }: { findings: Finding[] }) {
  return (
    <ul class="findings">
      {findings.map((finding) => {
        const { tone, icon } = SEVERITY[finding.severity] ?? SEVERITY.info;
        return (
          <li key={finding.cause + finding.text} class={tone}>
            <Icon name={icon} />
            <div>
              <p>{finding.text}</p>
              {finding.next && <Command text={finding.next} />}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

interface ButtonProps {
  children: ComponentChildren;
  onClick: () => void;
  icon?: IconName;
  look?: "plain" | "primary" | "danger" | "quiet";
  disabled?: boolean;
  title?: string;
}

export function Button({ children, onClick, icon, look = "plain", disabled, title }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${look}`}
      onClick={onClick}
      disabled={disabled}
      title={title}
    >
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}
