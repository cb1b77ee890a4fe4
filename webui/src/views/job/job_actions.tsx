// What one may ask of a job. The daemon decides who may; a refusal is shown in its words.
import { useEffect, useState } from "preact/hooks";
import { ApiError, type Client } from "../../api/client";
import type { Job } from "../../api/types";
import { Dialog } from "../../parts/dialog";
import { isOver } from "../../state/model";
import { useSelect } from "../../state/store";
import { cancelText } from "../../text/cancel_text";
import { sentence } from "../../text/format";
import { ResizeForm } from "./resize_form";

type Open = "resize" | "cancel" | null;

export function JobActions({ job, client }: { job: Job; client: Client }) {
  const [open, setOpen] = useState<Open>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [mayChange, setMayChange] = useState(true);
  const live = useSelect((state) => state.link.kind === "live");
  // What the daemon did not answer while it was away is no news once it is back.
  useEffect(() => { if (live && mayChange) setProblem(null); }, [live]);

  const ask = async (request: Promise<void>) => {
    setBusy(true);
    setProblem(null);
    try {
      await request;
      setOpen(null);
    } catch (failure) {
      setOpen(null);
      setProblem(failure instanceof ApiError ? failure.message : String(failure));
      if (failure instanceof ApiError && failure.status === 403) setMayChange(false);
    } finally {
      setBusy(false);
    }
  };
  if (isOver(job.state)) return null;
  const off = busy || !mayChange;
  const held = job.state === "suspended" || job.state === "suspending";
  return (
    <div class="actions">
      <button class="button" type="button" disabled={off || held} onClick={() => setOpen("resize")}>Resize …</button>
      {held
        ? <button class="button" type="button" disabled={off || job.state === "suspending"} onClick={() => void ask(client.resume(job.id))}>Resume</button>
        : <button class="button" type="button" disabled={off} onClick={() => void ask(client.suspend(job.id))}>Suspend</button>}
      <button class="button danger" type="button" disabled={off} onClick={() => setOpen("cancel")}>Cancel …</button>
      {problem !== null && <p class="problem" role="alert">{sentence(problem)}{!mayChange && " This token may look but not change; sign in with one that may."}</p>}
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
