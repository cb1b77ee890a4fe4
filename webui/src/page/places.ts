// Where each entry of the history was left: how far its page was scrolled, and which of its links had the focus. The
// browser would put the page there before what stands on it is drawn again. A page that is read anew, as that of a job,
// begins at its top: what it is to show is not there yet.
export interface Place {
  top: number;
  link: { href: string; nth: number } | null; // nth of the links to there
}

export class Places {
  private readonly left = new Map<number, Place>();
  private newest = Date.now(); // entries of before a reload keep their numbers
  private entry: number;

  constructor() {
    history.scrollRestoration = "manual";
    this.entry = this.numbered();
  }

  // The address has changed, and what stands on the page is as it was left, at `place`. Gives where the entry that is
  // gone to was left; null: it is new.
  move(place: Place): Place | null {
    this.left.set(this.entry, place);
    this.entry = this.numbered();
    return this.left.get(this.entry) ?? null;
  }

  // An entry that a link has made has no number yet.
  private numbered(): number {
    const { entry } = (history.state ?? {}) as { entry?: number };
    if (entry !== undefined) return entry;
    this.newest += 1;
    history.replaceState({ entry: this.newest }, "");
    return this.newest;
  }
}

export function placeNow(): Place {
  const focused = document.activeElement;
  const href = focused?.closest("#main") ? focused.getAttribute("href") : null;
  return { top: scrollY, link: href === null ? null : { href, nth: linksTo(href).indexOf(focused as Element) } };
}

// What had the focus is gone with the page before: keys and screen readers go on from the link that was followed from
// here, and on a new page from its top.
export function begin(place: Place | null): void {
  const link = place?.link ? linksTo(place.link.href)[place.link.nth] : undefined;
  (link instanceof HTMLElement ? link : document.getElementById("main"))?.focus({ preventScroll: true });
  scrollTo(0, place?.top ?? 0);
}

function linksTo(href: string): Element[] {
  return [...document.querySelectorAll("#main a")].filter((link) => link.getAttribute("href") === href);
}
