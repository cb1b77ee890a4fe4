// Stands where something would be shown that could not be read because the daemon is gone; the session reads it when it
// is back.
export function Unread({ what }: { what: string }) {
  return (
    <section class="empty" role="status">
      <h2>{what} could not be read</h2>
      <p>The daemon does not answer. The page tries again by itself and shows this as soon as it does.</p>
    </section>
  );
}
