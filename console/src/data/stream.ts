// A stream of server-sent events. With the session the server ends it: then the log-in is shown.

import { loadSession } from "./api";

export function openStream(path: string): EventSource {
  const stream = new EventSource(path);
  stream.addEventListener("ended", () => {
    stream.close();
    loadSession().catch(() => {});
  });
  return stream;
}
