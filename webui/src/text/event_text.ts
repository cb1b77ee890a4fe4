// Each event as a sentence, of jobs in the words of schedctl (schedctl/progress.cpp). An unknown type shows its name, so a newer daemon loses nothing here.
import type { TideEvent } from "../api/types";
import { bool, intents, num, reason, str, texts } from "../state/event_data";
import { count, milliseconds, percent, plural, quantity } from "./format";

const counted = (n: number | null, word: string) => `${count(n)} ${plural(n ?? 0, word)}`;
const workers = (n: number | null) => counted(n, "worker");
const labels = (e: TideEvent) => Object.entries(texts(e, "labels")).map(([key, value]) => `${key}=${value}`).join(", ");
const worker = (e: TideEvent) => `worker ${str(e, "worker")}${e.node ? ` on ${e.node}` : ""}`;
const sizes = (e: TideEvent) => (num(e, "min") === num(e, "max") ? "" : `${num(e, "min")} to `) + workers(num(e, "max"));
const version = (e: TideEvent, field: string) => (str(e, field) ? `, version ${str(e, field)?.slice(0, 12)}` : "");

export function describe(event: TideEvent): string {
  const say = kSentences[event.type];
  return say ? say(event) : event.type;
}

const kSentences: Record<string, (e: TideEvent) => string> = {
  "job.submitted": (e) => `${str(e, "name") ?? e.job} submitted: ${sizes(e)}`,
  "job.started": (e) => `training with ${workers(num(e, "size"))}`,
  "job.resize_requested": (e) => (num(e, "size") ? `a user asks for ${workers(num(e, "size"))}` : "a user leaves the size to the engine"),
  "job.resizing": (e) => reason(e)?.text || `changing from ${num(e, "from")} to ${workers(num(e, "to"))}`,
  "job.resized": (e) => `has ${workers(num(e, "to"))}, had ${num(e, "from")}`,
  "job.progressed": (e) => `step ${count(num(e, "step"))}, ${quantity(num(e, "samples_per_second"))} samples/s, loss ${quantity(num(e, "loss"))}`,
  "job.rebalanced": (e) => rebalanced(e),
  "job.changed": (e) => `its job file was changed; it now has ${sizes(e)} and priority ${num(e, "priority")}`,
  "job.requeued": (e) => requeued(e),
  "job.parked": (e) => `state of step ${count(num(e, "step"))} saved in ${milliseconds(num(e, "write_ms"))}`,
  "job.notice_answered": (e) => str(e, "text") ?? `worker ${str(e, "worker")} answered its notice: ${str(e, "answer")}`,
  "job.checkpoint_failed": (e) =>
    `no checkpoint of step ${count(num(e, "step"))}${(num(e, "times") ?? 1) > 1 ? ` (${count(num(e, "times"))} in a row)` : ""}: ${str(e, "error") ?? ""}`,
  "job.checkpointed": (e) => `checkpoint of step ${count(num(e, "step"))} written in ${milliseconds(num(e, "write_ms"))}`,
  "job.restored": (e) => (num(e, "step") === 0 && num(e, "steps_lost"))
    ? `starts again from step 0, ${counted(num(e, "steps_lost"), "step")} lost: it has no saved state that it can use`
    : `continues from step ${count(num(e, "step"))}${num(e, "steps_lost") ? `, ${counted(num(e, "steps_lost"), "step")} lost` : ""}`,
  "job.state_brought": (e) => `state of step ${count(num(e, "step"))} brought from ${str(e, "from")} to ${str(e, "to")}`,
  "job.state_left": (e) => `starts without the state of step ${count(num(e, "step"))}: ${str(e, "why") ?? "it did not come"}`,
  "job.suspended": (e) => suspended(e),
  "job.resume_requested": () => "will continue when slots are free",
  "job.resumed": (e) => `resumed with ${workers(num(e, "size"))}`,
  "job.finished": (e) => finished(e),
  "generation.switched": (e) => switched(e),
  "worker.started": (e) => `${worker(e)} is placed`,
  "worker.stuck": (e) => `${worker(e)} made no progress at step ${count(num(e, "step"))} for ${count(num(e, "seconds"))} s`,
  "worker.lost": (e) => lost(e),
  "worker.killed": (e) => `${worker(e)} was killed before it had saved${str(e, "detail") ? `: ${str(e, "detail")}` : ""}`,
  "worker.straggling": (e) => straggling(e),
  "worker.replaced": (e) => `${worker(e)} replaced by ${str(e, "by")}${str(e, "because_of") ? `, as ${str(e, "because_of")} of its group is slow` : ""}`,
  "slots.quarantined": (e) => `slots of worker ${str(e, "worker")}, which has ended, are quarantined: ${str(e, "why")}`,
  "slots.released": (e) => `slots of worker ${str(e, "worker")} are free after ${count(num(e, "seconds"))} s`,
  "node.joined": (e) => `node ${str(e, "name") ?? e.node} joined with ${count(num(e, "slots"))} ${str(e, "slot_type") ?? ""} slots`,
  "node.lost": (e) => `node ${str(e, "name") ?? e.node} lost: ${str(e, "why") ?? "no answer"}`,
  "node.removed": (e) => `node ${str(e, "name") ?? e.node} removed: it does not come back`,
  "node.cordoned": (e) => `node ${str(e, "name") ?? e.node} ${bool(e, "cordoned") ? "cordoned: no new workers" : "takes workers again"}`,
  "node.labelled": (e) => `node ${str(e, "name") ?? e.node} labelled: ${labels(e) || "no labels"}`,
  "node.draining": (e) => `node ${str(e, "name") ?? e.node} is being drained: to be empty in ${count(num(e, "seconds"))} s`,
  "node.drained": (e) => `node ${str(e, "name") ?? e.node} is drained: no worker is left on it`,
  "node.reclaim_notice": (e) => `node ${str(e, "name") ?? e.node} will be reclaimed by its provider in ${count(num(e, "seconds"))} s`,
  "node.reclaim_withdrawn": (e) => `node ${str(e, "name") ?? e.node} will not be reclaimed after all`,
  "node.undrained": (e) => `node ${str(e, "name") ?? e.node} is no longer being drained`,
  "node.unsteady": (e) => `node ${str(e, "name") ?? e.node} fails again and again: no new workers for ${count(num(e, "seconds"))} s${str(e, "why") ? `: ${str(e, "why")}` : ""}`,
  "node.steady": (e) => `node ${str(e, "name") ?? e.node} gets new workers again${bool(e, "cleared") ? ": its faults were cleared" : ""}`,
  "node.probed": (e) => `node ${str(e, "name") ?? e.node} measured${num(e, "speed") === null ? "" : `: ${percent(num(e, "speed"))} of what may be expected`}`,
  "maintenance.added": (e) => `${maintenance(e)} is planned`,
  "maintenance.began": (e) => `${maintenance(e)} has begun`,
  "maintenance.ended": (e) => `${maintenance(e)} has ended`,
  "maintenance.removed": (e) => `${maintenance(e)} was taken away`,
  "pool.configured": () => "pools of nodes were configured",
  "tenants.configured": (e) => {
    const tenants = e.data.tenants;
    const names = Array.isArray(tenants) ? tenants.map(String) : [];
    return names.length === 0 ? "the pool is no longer shared by tenants" : `tenants share the pool: ${names.join(", ")}`;
  },
  "prices.configured": (e) => {
    const rules = Array.isArray(e.data.rules) ? e.data.rules.map(String) : [];
    return rules.length === 0 ? "nodes cost what their tokens and pools say" : `prices are listed by rules: ${rules.join(", ")}`;
  },
  "prices.changed": (e) => {
    const list = Array.isArray(e.data.prices) ? e.data.prices : [];
    const changes = list.map((one) => `${String(one?.rule ?? "")} costs ${String(one?.price ?? "")}`);
    return `prices changed: ${changes.join(", ")} per slot and hour`;
  },
  "budget.reached": (e) => {
    const action = str(e, "action") ?? "";
    const effects: Record<string, string> = {
      shrink: ": its jobs go to their smallest sizes",
      pause: ": its jobs save their states and wait",
      stop: ": its jobs are cancelled",
    };
    return `tenant ${str(e, "tenant") ?? ""} has spent ${count(num(e, "percent"))} % of its budget of ${str(e, "limit") ?? ""} a ${str(e, "window") ?? ""}${effects[action] ?? ""}`;
  },
  "budget.renewed": (e) => `the budget of tenant ${str(e, "tenant") ?? ""} is renewed; ${str(e, "spent") ?? ""} of ${str(e, "limit") ?? ""} were spent in the ${str(e, "window") ?? ""} that has ended`,
  "pool.node_asked": (e) => `${poolNode(e)} requested: ${reason(e)?.text ?? ""}`,
  "pool.node_emptying": (e) => `${poolNode(e)} is being emptied within ${count(num(e, "seconds"))} s${whyOfNode(e)}`,
  "pool.node_released": (e) => `${poolNode(e)} given back${whyOfNode(e)}`,
  "pool.node_created": (e) => `${poolNode(e)} exists; its agent has not joined yet`,
  "pool.node_unknown": (e) => `${poolNode(e)} is listed by its provider, and nothing asked for it: it is ended`,
  "pool.node_joined": (e) => `${poolNode(e)} joined ${count(num(e, "seconds"))} s after it was requested`,
  "pool.create_failed": (e) => `${poolNode(e)} could not be created${attempt(e)}`,
  "pool.delete_failed": (e) => `${poolNode(e)} could not be deleted${attempt(e)}`,
  "pool.list_failed": (e) => `the nodes of pool ${str(e, "pool")} could not be listed (${str(e, "fault")}): ${str(e, "detail")}`,
  "pool.bill_runs_on": (e) => `${poolNode(e)} was ended ${count(num(e, "attempts"))} times, and its provider lists it still`,
  "pool.node_gone": (e) => `${poolNode(e)} is gone: ${str(e, "why") ?? ""}`,
  "decision.made": (e) => intents(e).map((intent) => intent.text).join("; ") || "nothing to change",
  "policy.activated": (e) => `policy ${str(e, "policy") ?? "of the daemon itself"} decides from now on${version(e, "version")}`,
  "policy.rolled_back": (e) =>
    `policy ${str(e, "policy")}${version(e, "version")} was replaced by ${str(e, "to") ?? "the daemon's own"}${version(e, "to_version")}: ${str(e, "why")}`,
  "policy.shadow_started": (e) => `policy ${str(e, "policy")}${version(e, "version")} runs as a shadow of the active policy`,
  "policy.shadow_stopped": (e) => `policy ${str(e, "policy")}${version(e, "version")} no longer runs as a shadow`,
  "policy.error": (e) => str(e, "code")
    ? `policy ${str(e, "policy")} failed (${str(e, "code")}), so the built-in default decided: ${str(e, "error")}`
    : `policy ${str(e, "policy")} gave a plan that breaks a rule; the previous plan stays in force: ${str(e, "error")}`,
  "data.epoch_audited": (e) => audited(e),
};

const maintenance = (e: TideEvent) => `maintenance ${str(e, "window")} of nodes with ${str(e, "nodes")}${str(e, "reason") ? ` (${str(e, "reason")})` : ""}`;
const poolNode = (e: TideEvent) => `node ${str(e, "name") || str(e, "provider_id") || "?"} of pool ${str(e, "pool")}`;

// A reason says by itself what it is for, which the sentence of its event has said.
function whyOfNode(e: TideEvent): string {
  const why = (reason(e)?.text ?? "").replace(/^(given back|emptied): /, "");
  return why ? `: ${why}` : "";
}

function attempt(e: TideEvent): string {
  return ` (${str(e, "fault")}): ${str(e, "detail")}; next attempt in ${count(num(e, "again_in_seconds"))} s`;
}

// Its reason says how the job goes on, or why it gives them up.
function requeued(e: TideEvent): string {
  const kWaits = "waits: ", kSaves = "saving its state and releasing its slots: ";
  const why = reason(e)?.text ?? "";
  const size = num(e, "size");
  const givesUp = `releases its ${size ? workers(size) : "workers"}`;
  if (why.startsWith(kSaves)) return `saves its state and ${givesUp}: ${why.slice(kSaves.length)}`;
  if (why.startsWith(kWaits)) return `${givesUp}: ${why.slice(kWaits.length)}`;
  if (/^(waits|returns|is still) /.test(why)) return `${givesUp} and ${why}`;
  return why === "" ? givesUp : `${givesUp}: ${why}`;
}

function suspended(e: TideEvent): string {
  const step = num(e, "step") ?? 0;
  const kept = num(e, "kept_step");
  if (kept !== null && kept >= step) return `suspended; its state of step ${count(kept)} is saved`;
  if (kept !== null) return `suspended after step ${count(step)}; its newest saved state is of step ${count(kept)}`;
  return step > 0 ? `suspended after step ${count(step)}; Tidepool has saved no state of it` : "suspended";
}

function finished(e: TideEvent): string {
  const state = str(e, "state") ?? "finished";
  const error = str(e, "error");
  if (error) return `${state}: ${error}`;
  const steps = num(e, "steps") || null; // 0: none, or its program tells no steps
  const loss = steps === null ? null : num(e, "loss");
  return `${state}${steps === null ? "" : ` after ${count(steps)} ${steps === 1 ? "step" : "steps"}`}${loss === null ? "" : `, loss ${quantity(loss)}`}`;
}

function switched(e: TideEvent): string {
  const [from, to, stall, redone] = [num(e, "from_size"), num(e, "to_size"), num(e, "stall_ms"), num(e, "steps_redone")];
  const size = from === to ? `still ${workers(to)}` : `now ${workers(to)} (was ${from})`;
  const restart = str(e, "kind") === "restart" ? "restarted: " : "";
  const stood = stall ? `, training paused for ${milliseconds(stall)}` : "";
  const unused = (e.data.unused as { text?: string } | undefined)?.text; // a saved state that a start did not use
  return `${restart}generation ${num(e, "generation")}: ${size}${stood}${redone ? `, ${counted(redone, "step")} redone` : ""}${unused ? `; ${unused}` : ""}`;
}

function isSound(e: TideEvent): boolean {
  return bool(e, "checksum_ok") === true && num(e, "used") !== null && num(e, "used") === num(e, "expected");
}

function audited(e: TideEvent): string {
  const used = `${count(num(e, "used"))} of ${count(num(e, "expected"))} samples used`;
  if (!isSound(e)) return `epoch ${count(num(e, "epoch"))} audit FAILED: ${used}`;
  const before = (num(e, "epochs") ?? 1) - 1;
  return `epoch ${count(num(e, "epoch"))} audited: ${used}, each exactly once${before > 0 ? `, as in the ${counted(before, "epoch")} before it` : ""}`;
}

// The workers with less than a full share from this step on.
function rebalanced(e: TideEvent): string {
  const shares = Array.isArray(e.data.shares) ? (e.data.shares as { worker: string; share: number }[]) : [];
  const eased = shares.filter((each) => each.share < 1).map((each) => `${each.worker} at ${percent(each.share)}`);
  const what = eased.length === 0 ? "all workers have full shares again" : `smaller shares: ${eased.join(", ")}`;
  return `from step ${count(num(e, "step"))} on ${what}`;
}

// What the slowness goes with, what waiting has cost, and what comes next, as far as the event says.
function straggling(e: TideEvent): string {
  const follows = str(e, "follows");
  const action = str(e, "next_action");
  const parts = [`${worker(e)} is slow: ${percent(num(e, "score"))} of the others' speed, below ${percent(num(e, "threshold"))}`];
  if (follows) parts.push(follows === "unknown" ? "worker or node" : `the cause is the ${follows}`);
  if (num(e, "waited_s") !== null) parts.push(`waiting for it has cost ${quantity(num(e, "waited_s"))} slot-seconds`);
  if (action && num(e, "action_cost_s") !== null) parts.push(`${action.replace(/e$/, "")}ing costs ${quantity(num(e, "action_cost_s"))}`);
  return parts.join("; ");
}

function lost(e: TideEvent): string {
  const signal = num(e, "signal");
  const code = num(e, "exit_code");
  const how = signal ? ` (signal ${signal})` : code !== null && code >= 0 ? ` (exit code ${code})` : "";
  const detail = str(e, "detail");
  return `${worker(e)} lost${how}${detail ? `: ${detail}` : ""}`;
}

// The newest of a list, newest first, in which rows of a kind that comes again and again and tells of nothing amiss do
// not push out the others: of good audits and of checkpoints that were written only the newest is there.
export function briefly(newestFirst: readonly TideEvent[], most: number): TideEvent[] {
  const had = new Set<string>();
  return newestFirst.filter((event) => {
    const isRoutine = event.type === "job.checkpointed" || (event.type === "data.epoch_audited" && toneOf(event) === "good");
    const isFirst = !had.has(event.type);
    if (isRoutine) had.add(event.type);
    return !isRoutine || isFirst;
  }).slice(0, most);
}

function endTone(state: string | null): "good" | "bad" | "plain" {
  if (state === "cancelled") return "plain";
  return state === "failed" ? "bad" : "good";
}

// How an event is marked in lists and charts: what went well, what asks for a look, what hurts.
export function toneOf(event: TideEvent): "good" | "warn" | "bad" | "change" | "plain" {
  switch (event.type) {
    case "worker.lost":
    case "node.lost":
      return "bad";
    case "worker.killed":
    case "worker.straggling":
    case "worker.stuck":
    case "job.checkpoint_failed":
    case "slots.quarantined":
      return "warn";
    case "job.finished":
      return endTone(str(event, "state"));
    case "data.epoch_audited":
      return isSound(event) ? "good" : "bad";
    case "job.resizing":
    case "job.resized":
    case "generation.switched":
    case "worker.replaced":
      return "change";
    default:
      return "plain";
  }
}
