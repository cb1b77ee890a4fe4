// One clock for all relative times on the page: it ticks once a second.
import { useEffect, useState } from "preact/hooks";

const listeners = new Set<(now: number) => void>();
let timer: ReturnType<typeof setInterval> | undefined;

export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    listeners.add(setNow);
    timer ??= setInterval(() => { for (const listener of listeners) listener(Date.now()); }, 1000);
    return () => {
      listeners.delete(setNow);
      if (listeners.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
    };
  }, []);
  return now;
}
