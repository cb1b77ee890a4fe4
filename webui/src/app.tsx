// The frame: signs in, starts the session, shows the page that the address names.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Client } from "./api/client";
import { Boundary } from "./parts/boundary";
import { begin, type Place, placeNow, Places } from "./page/places";
import { pageKey, parseRoute, type Route, titleOf } from "./page/router";
import { adoptFragment, forgetToken, keepToken, storedToken } from "./session";
import { Planner } from "./state/planner";
import { Session } from "./state/session";
import { store, useSelect } from "./state/store";
import { zoneText } from "./text/format";
import { LinkBanner } from "./views/link_banner";
import { JobPage } from "./views/job/job_page";
import { Overview } from "./views/overview/overview";
import { PlanPage } from "./views/plan/plan_page";
import { SignIn } from "./views/sign_in";
import { TenantsPage } from "./views/tenants/tenants_page";
import { TopBar } from "./views/top_bar";

interface Live {
  client: Client;
  session: Session;
  planner: Planner;
}

function useRoute(onToken: (token: string) => void): Route {
  const [route, setRoute] = useState(parseRoute(location.hash));
  const arrival = useRef<{ place: Place | null; isOther: boolean } | null>(null);
  useEffect(() => {
    let shown = pageKey(parseRoute(location.hash));
    const places = new Places();
    const follow = () => {
      const token = adoptFragment();
      if (token !== null) onToken(token);
      const next = parseRoute(location.hash);
      const place = places.move(placeNow());
      arrival.current = { place, isOther: pageKey(next) !== shown };
      shown = pageKey(next);
      setRoute(next);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [onToken]);
  // Once what stands on the page is there.
  useLayoutEffect(() => {
    if (arrival.current === null) return;
    const { place, isOther } = arrival.current;
    arrival.current = null;
    // What has the focus stays on its page.
    if (isOther) begin(place);
    else if (place !== null) scrollTo(0, place.top);
  }, [route]);
  const jobName = useSelect((state) => (route.page === "job" ? state.jobs.get(route.id)?.name ?? null : null));
  useEffect(() => { document.title = titleOf(route, jobName); }, [route, jobName]);
  return route;
}

export function App() {
  const [auth, setAuth] = useState({ token: storedToken() });
  const [live, setLive] = useState<Live | null>(null);
  const link = useSelect((state) => state.link);
  // Another token is another session; the one that the tab has goes on with its own.
  const adopt = useCallback((brought: string) => setAuth((now) => (now.token === brought ? now : { token: brought })), []);
  const route = useRoute(adopt);

  useEffect(() => {
    const client = new Client(auth.token);
    const session = new Session(client, store);
    const planner = new Planner(client, store);
    const see = () => session.see(!document.hidden);
    setLive({ client, session, planner });
    see();
    document.addEventListener("visibilitychange", see);
    return () => {
      document.removeEventListener("visibilitychange", see);
      planner.stop();
      session.stop();
      store.dispatch({ type: "signed_out" });
    };
  }, [auth]);

  const signIn = useCallback((entered: string) => { keepToken(entered); setAuth({ token: entered }); }, []);
  const signOut = useCallback(() => { forgetToken(); setAuth({ token: null }); }, []);

  if (link.kind === "refused") return <SignIn hadToken={auth.token !== null} message={link.message} onToken={signIn} />;
  return (
    <div class="app">
      <a class="skip" href="#main" onClick={(click) => { click.preventDefault(); document.getElementById("main")?.focus(); }}>Skip to content</a>
      <TopBar route={route} signedIn={auth.token !== null} onSignOut={signOut} />
      <LinkBanner onRetry={() => live?.session.retryNow()} />
      <main id="main" tabIndex={-1}>
        {live && <Boundary key={pageKey(route)}><Page route={route} live={live} loading={link.kind === "loading"} /></Boundary>}
      </main>
      <footer class="zone quiet small">{zoneText()}</footer>
    </div>
  );
}

function Page({ route, live, loading }: { route: Route; live: Live; loading: boolean }) {
  if (route.page === "job") return <JobPage key={route.id} id={route.id} spanS={route.spanS} client={live.client} session={live.session} />;
  if (route.page === "tenants") return <TenantsPage chosen={route.chosen} view={route.view} session={live.session} />;
  if (route.page === "plan") return <PlanPage like={route.like} planner={live.planner} />;
  if (route.page === "unknown") {
    return (
      <section class="empty">
        <h1>No such page</h1>
        <p>There is nothing at <code>{route.path}</code>. <a href="#/">Go to the overview</a>.</p>
      </section>
    );
  }
  return <Overview view={route.jobs} loading={loading} />;
}
