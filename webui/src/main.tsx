import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/overview.css";
import "./styles/job.css";
import "./styles/charts.css";
import "./styles/tenants.css";
import "./styles/plan.css";
import { App } from "./app";
import { adoptFragment } from "./session";
import { applyTheme } from "./page/theme";

applyTheme();
adoptFragment();
const root = document.getElementById("app");
if (root) render(<App />, root);
