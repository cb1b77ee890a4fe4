import { useNow } from "../page/now";
import { absolute, ago, clockBeside } from "../text/format";

// A time as people say it; the exact one on hover and for machines.
export function When({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span class="quiet">–</span>;
  return <time class="when" dateTime={at} title={absolute(at)}>{ago(at, now)}</time>;
}

// In a list of what has happened: at what time, as the charts and the output of workers tell it. How long ago, on hover.
export function Moment({ at }: { at: string }) {
  const now = useNow();
  return <time class="when" dateTime={at} title={`${ago(at, now)}, ${absolute(at)}`}>{clockBeside(at, now)}</time>;
}
