// The schema by which bodies of a topic are read: Avro's JSON, or a .proto. Kept in this browser.

import { useEffect, useState } from "preact/hooks";
import { keepSchema, schemas } from "../../data/kept";
import { Button } from "../../parts/basics";
import { FieldInput } from "../../parts/fields";
import { t } from "../../words";

export function SchemaField({ topic }: { topic: string }) {
  const kept = schemas.value[topic];
  const [text, setText] = useState("");
  const [type, setType] = useState("");
  useEffect(() => {
    setText(kept?.text ?? "");
    setType(kept?.type ?? "");
  }, [topic, kept]);
  const isProto = text.trim() !== "" && !/^\s*[[{"]/.test(text);
  return (
    <details class="schema">
      <summary>{kept ? t("Bodies are read by a schema") : t("Read bodies by a schema")}</summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          keepSchema(topic, { text, type: isProto ? type.trim() : "" });
        }}
      >
        <FieldInput
          prefix="schema"
          field={{
            name: "text",
            label: t("Schema of {topic}", { topic }),
            kind: "area",
            hint: t("An Avro schema in JSON, or the text of a .proto file; kept in this browser"),
          }}
          value={text}
          onChange={setText}
        />
        {isProto && (
          <FieldInput
            prefix="schema"
            field={{
              name: "type",
              label: t("Message of the .proto"),
              kind: "text",
              hint: t("Empty: the first"),
            }}
            value={type}
            onChange={setType}
          />
        )}
        <div class="schema-buttons">
          <button type="submit" class="button primary">
            {t("Use")}
          </button>
          {kept && (
            <Button onClick={() => keepSchema(topic, { text: "", type: "" })}>{t("Forget")}</Button>
          )}
        </div>
      </form>
    </details>
  );
}
