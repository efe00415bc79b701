// The console: its styles, the shell, and the page of the address.

import "uplot/dist/uPlot.min.css";
import "./styles/ground.css";
import "./styles/shell.css";
import "./styles/parts.css";
import "./styles/pages.css";
import { render } from "preact";
import { followLinks } from "./data/address";
import { beginSession } from "./data/api";
import { applyPreferences } from "./data/preferences";
import { complain } from "./parts/toasts";
import { Shell } from "./shell/Shell";

applyPreferences();
followLinks();
beginSession().catch(complain);
const root = document.getElementById("app");
if (root) render(<Shell />, root);
