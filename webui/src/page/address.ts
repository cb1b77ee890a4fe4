// Changes what the address says of the page that is shown.
//
// A choice is an entry of the history of its own, so that Back takes it back. What is typed takes the place of the entry
// once typing has paused: browsers refuse an address that changes too often.
import { useEffect, useRef, useState } from "preact/hooks";

const kPauseMs = 400;

export function goTo(href: string, entry: "push" | "replace" = "push"): void {
  if (location.hash === href) return;
  if (entry === "push") history.pushState(null, "", href);
  else history.replaceState(history.state, "", href);
  dispatchEvent(new HashChangeEvent("hashchange")); // browsers send none for these
}

export interface Typed {
  text: string;
  type(text: string): void;
  settle(): void; // typing has ended: the address says it at once
}

// Text that is at hand with each key and in the address a little later. `kept`: what the address says.
export function useTyped(kept: string, keep: (text: string) => void): Typed {
  const [text, setText] = useState(kept);
  const last = useRef({ text, told: kept, keep, timer: undefined as ReturnType<typeof setTimeout> | undefined });
  last.current.keep = keep;
  // What comes back from `keep` is no news; after Back or another link it is.
  useEffect(() => {
    if (kept === last.current.told) return;
    clearTimeout(last.current.timer);
    Object.assign(last.current, { text: kept, told: kept, timer: undefined });
    setText(kept);
  }, [kept]);
  useEffect(() => () => clearTimeout(last.current.timer), []);
  const settle = () => {
    const { timer, text: typed } = last.current;
    if (timer === undefined) return;
    clearTimeout(timer);
    Object.assign(last.current, { told: typed, timer: undefined });
    last.current.keep(typed);
  };
  const type = (typed: string) => {
    setText(typed);
    clearTimeout(last.current.timer);
    Object.assign(last.current, { text: typed, timer: setTimeout(settle, kPauseMs) });
  };
  return { text, type, settle };
}
