import { useState } from "preact/hooks";
import type { Job } from "../../api/types";
import { Dialog } from "../../parts/dialog";
import { allowedText, sizesBetween, sizeToPin } from "../../text/format";

interface Props {
  job: Job;
  busy: boolean;
  onClose(): void;
  onSize(size: number): void;
}

// The size stays pinned until it is left to the engine again, which still keeps quotas and free slots.
export function ResizeForm({ job, busy, onClose, onSize }: Props) {
  const [size, setSize] = useState(sizeToPin(job));
  const ok = sizesBetween(job)?.includes(size) ?? (Number.isInteger(size) && size >= job.min && size <= job.max);
  const submit = (event: Event) => {
    event.preventDefault();
    if (ok) onSize(size);
  };
  return (
    <Dialog title={`Size of ${job.name}`} onClose={onClose}>
      <form onSubmit={submit}>
        <p>The size stays pinned until you leave it to the engine again. The job {job.min === job.max ? "has" : "may have"} {allowedText(job)}.</p>
        <label class="row" for="size">Workers
          <input id="size" type="number" min={job.min} max={job.max} step={1} value={size} autofocus aria-invalid={!ok}
            onInput={(event) => setSize(event.currentTarget.valueAsNumber)} />
        </label>
        <div class="dialog-buttons">
          {job.pinned_size !== null && <button class="button" type="button" disabled={busy} onClick={() => onSize(0)}>Leave it to the engine</button>}
          <span class="grow" />
          <button class="button" type="button" onClick={onClose}>Close</button>
          <button class="button primary" type="submit" disabled={!ok || busy}>Pin to {ok ? size : "…"}</button>
        </div>
      </form>
    </Dialog>
  );
}
