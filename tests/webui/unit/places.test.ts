import { goTo } from "~/page/address";
import { begin, type Place, placeNow, Places } from "~/page/places";

afterEach(() => { vi.unstubAllGlobals(); });

// A history whose entries a link adds, as a browser does, without a state.
function browserHistory() {
  const entries: { state: unknown }[] = [{ state: null }];
  let at = 0;
  const fake = {
    scrollRestoration: "auto",
    get state() { return entries[at]?.state ?? null; },
    replaceState(state: unknown) { entries[at] = { state }; },
    pushState(state: unknown) { entries.splice(++at, Infinity, { state }); },
  };
  vi.stubGlobal("history", fake);
  vi.stubGlobal("location", { hash: "#/" });
  vi.stubGlobal("HashChangeEvent", class {});
  vi.stubGlobal("dispatchEvent", () => true);
  return { fake, follow: () => fake.pushState(null), go: (steps: number) => { at += steps; } };
}

const at = (top: number, link: Place["link"] = null): Place => ({ top, link });

test("Back and Forward find each page as it was left, and a new page begins at its top", () => {
  const browser = browserHistory();
  const places = new Places();
  expect(browser.fake.scrollRestoration).toBe("manual");
  browser.follow();
  expect(places.move(at(2400))).toBeNull();
  browser.go(-1);
  expect(places.move(at(70))).toEqual(at(2400));
  browser.go(1);
  expect(places.move(at(2500))).toEqual(at(70));
  browser.go(-1);
  expect(places.move(at(0))).toEqual(at(2500));
  browser.follow();
  expect(places.move(at(1))).toBeNull();
});

test("an address that takes the place of another one is the same entry", () => {
  const browser = browserHistory();
  const places = new Places();
  goTo("#/?rows=80", "replace");
  places.move(at(1900));
  browser.follow();
  places.move(at(2000));
  browser.go(-1);
  expect(places.move(at(0))).toEqual(at(2000));
});

test("after a reload no entry of before is taken for a new one", () => {
  const browser = browserHistory();
  vi.spyOn(Date, "now").mockReturnValueOnce(1000);
  new Places();
  browser.follow();
  vi.spyOn(Date, "now").mockReturnValueOnce(2000);
  const places = new Places();
  browser.go(-1);
  expect(places.move(at(300))).toBeNull();
  browser.follow();
  expect(places.move(at(5))).toBeNull();
  browser.go(-1);
  expect(places.move(at(0))).toEqual(at(5));
});

// A page whose links lead to these; `focused` is what has the focus, `top` how far it is scrolled.
function pageOf(...hrefs: string[]) {
  class Element {
    readonly href: string | null;
    constructor(href: string | null) { this.href = href; }
    getAttribute() { return this.href; }
    closest() { return this; }
    focus() { page.focused = this; }
  }
  const main = new Element(null);
  const links = hrefs.map((href) => new Element(href));
  const page = { links, main, focused: main, top: 0 };
  vi.stubGlobal("HTMLElement", Element);
  vi.stubGlobal("document", { get activeElement() { return page.focused; }, querySelectorAll: () => links, getElementById: () => main });
  vi.stubGlobal("scrollTo", (_: number, top: number) => { page.top = top; });
  vi.stubGlobal("scrollY", 640);
  return page;
}

test("a page that is come back to has its place and its focus again", () => {
  const page = pageOf("#/jobs/job-1", "#/jobs/job-2", "#/jobs/job-1");
  page.focused = page.links[2]!;
  const place = placeNow();
  expect(place).toEqual(at(640, { href: "#/jobs/job-1", nth: 1 }));
  begin(null);
  expect([page.focused, page.top]).toEqual([page.main, 0]);
  begin(place);
  expect([page.focused, page.top]).toEqual([page.links[2], 640]);
  begin(at(9, { href: "#/jobs/job-3", nth: 0 }));
  expect([page.focused, page.top]).toEqual([page.main, 9]);
});
