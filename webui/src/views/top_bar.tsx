import { Logo, ThemeIcon } from "../parts/icons";
import { useNow } from "../page/now";
import { kPlanHref, type Route } from "../page/router";
import { mayChange } from "../state/model";
import { useSelect } from "../state/store";
import { absolute, ago } from "../text/format";
import { chooseTheme, isDark, useDark } from "../page/theme";

interface Props {
  route: Route;
  signedIn: boolean;
  onSignOut(): void;
}

export function TopBar({ route, signedIn, onSignOut }: Props) {
  const dark = useDark();
  const jobName = useSelect((state) => (route.page === "job" ? state.jobs.get(route.id)?.name ?? route.id : null));
  const may = useSelect(mayChange);
  return (
    <header class="top-bar">
      <a class="brand" href="#/" aria-label="Tidepool, overview"><Logo /><span>Tidepool</span></a>
      <nav aria-label="Where you are">
        <a href="#/" aria-current={route.page === "overview" ? "page" : undefined}>Overview</a>
        <a href="#/tenants" aria-current={route.page === "tenants" ? "page" : undefined}>Tenants</a>
        {may && <a href={kPlanHref} aria-current={route.page === "plan" ? "page" : undefined}>Plan</a>}
        {jobName !== null && <span class="here" aria-current="page">{jobName}</span>}
      </nav>
      <LinkState />
      <button class="icon-button" type="button" onClick={() => chooseTheme(isDark() ? "light" : "dark")}
        aria-label={dark ? "Use the light theme" : "Use the dark theme"} title={dark ? "Light theme" : "Dark theme"}>
        <ThemeIcon dark={dark} />
      </button>
      {signedIn && <button class="text-button" type="button" onClick={onSignOut}>Sign out</button>}
    </header>
  );
}

// The word alone is spoken by screen readers when it changes; the time beside it changes each second.
function LinkState() {
  const kind = useSelect((state) => state.link.kind);
  const lastEventAt = useSelect((state) => state.lastEventAt);
  const now = useNow();
  const word = kind === "live" ? "Live" : kind === "down" ? "Disconnected" : "Connecting";
  return (
    <span class={`link-state ${kind}`} title={lastEventAt ? `last event ${absolute(lastEventAt)}` : "no event yet"}>
      <i aria-hidden="true" /><span role="status">{word}</span>
      {kind === "live" && lastEventAt && <span class="quiet wide-only">last event {ago(lastEventAt, now)}</span>}
    </span>
  );
}
