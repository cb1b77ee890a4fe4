import { useNow } from "../page/now";
import { absolute, ago } from "../text/format";

// A time as people say it; the exact one on hover and for machines.
export function When({ at }: { at: string | null }) {
  const now = useNow();
  if (at === null) return <span class="quiet">–</span>;
  return <time class="when" dateTime={at} title={absolute(at)}>{ago(at, now)}</time>;
}
