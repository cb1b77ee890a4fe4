// What one may ask of a job. The daemon decides who may; a refusal is shown in its words.
import { useEffect, useState } from "preact/hooks";
import { ApiError, type Client } from "../../api/client";
import type { Job } from "../../api/types";
import { Dialog } from "../../parts/dialog";
import { isOver, mayChange } from "../../state/model";
import { useSelect } from "../../state/store";
import { cancelText } from "../../text/cancel_text";
import { sentence } from "../../text/format";
import { kReadsOnly } from "../../text/role_text";
import { ResizeForm } from "./resize_form";

type Open = "resize" | "cancel" | null;

export function JobActions({ job, client }: { job: Job; client: Client }) {
  const [open, setOpen] = useState<Open>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiError | null>(null);
  const may = useSelect(mayChange);
  const live = useSelect((state) => state.link.kind === "live");
  // That the daemon did not answer is no news once it is back.
  useEffect(() => { if (live) setProblem((last) => (last?.status === 0 ? null : last)); }, [live]);

  const ask = async (request: Promise<void>) => {
    setBusy(true);
    setProblem(null);
    try {
      await request;
      setOpen(null);
    } catch (failure) {
      setOpen(null);
      setProblem(failure instanceof ApiError ? failure : new ApiError(-1, "Failed", String(failure)));
    } finally {
      setBusy(false);
    }
  };
  if (isOver(job.state)) return null;
  if (!may) return <p class="actions quiet small">{kReadsOnly}</p>;
  const held = job.state === "suspended" || job.state === "suspending";
  const waits = busy || job.state === "suspending";
  const toggle = () => { if (!waits) void ask(held ? client.resume(job.id) : client.suspend(job.id)); };
  return (
    <div class="actions">
      <button class="button" type="button" disabled={busy || held} onClick={() => setOpen("resize")}>Resize …</button>
      {/* One button, which is never disabled while it waits: it keeps the focus of the keyboard. */}
      <button class="button" type="button" aria-disabled={waits} onClick={toggle}>{held ? "Resume" : "Suspend"}</button>
      <button class="button danger" type="button" disabled={busy} onClick={() => setOpen("cancel")}>Cancel …</button>
      {problem !== null && <p class="problem" role="alert">{sentence(problem.message)}</p>}
      {open === "resize" && <ResizeForm job={job} busy={busy} onClose={() => setOpen(null)} onSize={(size) => void ask(client.resize(job.id, size))} />}
      {open === "cancel" && (
        <Dialog title={`Cancel ${job.name}?`} onClose={() => setOpen(null)}>
          <p>{cancelText(job)}</p>
          <div class="dialog-buttons">
            <button class="button" type="button" onClick={() => setOpen(null)}>Keep it</button>
            <button class="button danger solid" type="button" disabled={busy} onClick={() => void ask(client.cancel(job.id))}>Cancel the job</button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
