// Shown when what is on the page may be old: says since when, and offers to try at once. Screen readers speak its first
// word alone by themselves: the times change each second.
import { useNow } from "../page/now";
import { useSelect } from "../state/store";
import { absolute, ago, clock, sentence } from "../text/format";

export function LinkBanner({ onRetry }: { onRetry(): void }) {
  const link = useSelect((state) => state.link);
  const now = useNow();
  if (link.kind !== "down") return null;
  const wait = Math.max(0, Math.ceil((link.retryAt - now) / 1000));
  return (
    <div class="banner">
      <strong role="alert">Disconnected</strong>
      <span class="grow">
        {sentence(link.message)}{" "}
        {link.since !== null && <span title={absolute(link.since)}>What you see is as of {clock(link.since)}, {ago(new Date(link.since).toISOString(), now)}. </span>}
        Training goes on without this page.
      </span>
      <span class="quiet">{wait > 0 ? `next try in ${wait} s` : "trying …"}</span>
      <button class="button" type="button" onClick={onRetry}>Reconnect</button>
    </div>
  );
}
