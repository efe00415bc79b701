// The console: its styles, the shell, and the page of the address.

import "uplot/dist/uPlot.min.css";
import "./styles/ground.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/pages.css";
import { effect } from "@preact/signals";
import { render } from "preact";
import { followLinks } from "./data/address";
import { loadSession, session } from "./data/api";
import { loadDescription } from "./data/description";
import { applyPreferences } from "./data/preferences";
import { complain } from "./parts/toasts";
import { Shell } from "./shell/Shell";

applyPreferences();
followLinks();
loadSession().catch(complain);
effect(() => {
  // Who has to log in first may not ask for it before.
  if (session.value?.role) loadDescription().catch(complain);
});
const root = document.getElementById("app");
if (root) render(<Shell />, root);
