import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ApiError, Client } from "~/api/client";
import type { Plan, SubmitDecision } from "~/api/plan_types";
import type { Problem } from "~/api/types";
import { readDraft } from "~/draft";
import { isOfEarlierText, kEmptyDesk, mayPlan, maySubmit, type PlanAction, type PlanDesk, reducePlan } from "~/state/plan_desk";
import { Planner, problemOf } from "~/state/planner";
import { Store } from "~/state/store";
import { job } from "./samples";

const example = <T>(name: string): T => JSON.parse(readFileSync(fileURLToPath(new URL(`../../../api/examples/${name}.json`, import.meta.url)), "utf8")) as T;
const plan = (): Plan => example<Plan>("plan");
const decision = (): SubmitDecision => example<SubmitDecision>("submit_decision");
const answer = (text: string) => ({ text, plan: plan(), decision: decision(), key: "k-1" });
const desk = (...actions: PlanAction[]): PlanDesk => actions.reduce(reducePlan, kEmptyDesk);

interface Asked { path: string; body: string; type: string | undefined; key: string | undefined; signal: AbortSignal | undefined }

// A planner whose daemon answers by path; what is not given is refused.
function planner(answers: Record<string, () => unknown>) {
  const asked: Asked[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    const headers = init.headers as Record<string, string>;
    asked.push({ path, body: String(init.body ?? ""), type: headers["Content-Type"], key: headers["Idempotency-Key"], signal: init.signal ?? undefined });
    const found = await answers[path]?.();
    if (found instanceof Error) throw found;
    return found === undefined
      ? new Response(JSON.stringify({ detail: "this needs a token with the role submitter or admin", code: "Forbidden" }), { status: 403 })
      : new Response(JSON.stringify(found));
  });
  const store = new Store();
  return { planner: new Planner(new Client("secret"), store), store, asked, now: () => store.state.plan };
}

const whole = { "/v1/plan": plan, "/v1/jobs?dry_run=true": () => ({ decision: decision() }), "/v1/jobs": () => job({ id: "job-9", name: "made" }) };

afterEach(() => { vi.unstubAllGlobals(); vi.useRealTimers(); });

test("an answer is marked as of the earlier text once the text is another, and no longer when it is as it was", () => {
  const answered = desk({ type: "wrote", text: "{}" }, { type: "answered", answer: answer("{}") });
  expect([isOfEarlierText(answered), maySubmit(answered)]).toEqual([false, true]);
  const changed = reducePlan(answered, { type: "wrote", text: "{ }" });
  expect([isOfEarlierText(changed), maySubmit(changed)]).toEqual([true, false]);
  const back = reducePlan(changed, { type: "wrote", text: "{}" });
  expect([isOfEarlierText(back), maySubmit(back)]).toEqual([false, true]);
});

test("nothing is planned of an empty text or while something is asked, and nothing submitted without a plan", () => {
  expect(mayPlan(kEmptyDesk)).toBe(false);
  expect(mayPlan(desk({ type: "wrote", text: " \n" }))).toBe(false);
  const written = desk({ type: "wrote", text: "{}" });
  expect([mayPlan(written), maySubmit(written)]).toEqual([true, false]);
  const busy = reducePlan(reducePlan(written, { type: "answered", answer: answer("{}") }), { type: "working", work: { kind: "planning", since: 0 } });
  expect([mayPlan(busy), maySubmit(busy)]).toEqual([false, false]);
});

test("a text that another takes the place of can be had back; an empty one needs no way back", () => {
  const begun: PlanAction = { type: "begun", like: "job-1", name: "charlm-demo", text: "{like}" };
  const over = desk({ type: "wrote", text: "{mine}" }, begun);
  expect(over).toMatchObject({ text: "{like}", before: "{mine}", begun: { like: "job-1", name: "charlm-demo" } });
  expect(reducePlan(over, { type: "taken_back" })).toMatchObject({ text: "{mine}", before: null, begun: null });
  expect(desk(begun).before).toBeNull();
});

test("a failure leaves the text and the answer before it; a new try takes the failure away", () => {
  const problem = problemOf(new ApiError(0, "Unreachable", "the daemon does not answer"), "plan");
  const failed = desk({ type: "wrote", text: "{}" }, { type: "answered", answer: answer("{}") }, { type: "failed", problem });
  expect(failed).toMatchObject({ text: "{}", work: null, problem: { of: "plan", status: 0, message: "the daemon does not answer" } });
  expect(failed.answer).not.toBeNull();
  expect(reducePlan(failed, { type: "working", work: { kind: "planning", since: 0 } }).problem).toBeNull();
});

test("a refusal keeps the daemon's fields and its hint", () => {
  const told = example<Problem>("problem");
  const problem = problemOf(new ApiError(422, "InvalidJob", "joined", told), "plan");
  expect(problem).toMatchObject({ status: 422, code: "InvalidJob", message: "2 fields need a change", hint: "correct the fields and submit again; nothing was stored" });
  expect(problem.fields.map(({ pointer }) => pointer)).toEqual(["/elastic/min", "/elastc"]);
  expect(problemOf(new TypeError("no"), "plan")).toMatchObject({ code: "Failed", message: "TypeError: no" });
});

test("what is sent is the text as it was written, and what is submitted is what was planned, with one key", async () => {
  const text = "# mine\nrun: {}\npriority: 12345678901234567890\n";
  let reachable = false;
  const at = planner({ ...whole, "/v1/jobs": () => (reachable ? whole["/v1/jobs"]() : new TypeError("away")) });
  at.planner.write(text);
  await at.planner.plan();
  expect(at.now()).toMatchObject({ work: null, answer: { text, plan: { name: "charlm-demo" }, decision: { starts: true } } });
  expect(await at.planner.submit()).toBeNull();
  expect(at.now().problem).toMatchObject({ of: "submit", code: "Unreachable" });
  reachable = true;
  expect(await at.planner.submit()).toBe("job-9");
  expect(at.now()).toMatchObject({ text, answer: null, submitted: { id: "job-9", name: "made" } });
  expect(at.asked.map(({ path, body }) => [path, body])).toEqual([["/v1/plan", text], ["/v1/jobs?dry_run=true", text], ["/v1/jobs", text], ["/v1/jobs", text]]);
  expect(new Set(at.asked.map(({ type }) => type))).toEqual(new Set(["application/yaml"]));
  const [first, second] = at.asked.slice(2).map(({ key }) => key);
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(second).toBe(first);
  // Planned again it is another wish, and another job.
  await at.planner.plan();
  await at.planner.submit();
  expect(at.asked[at.asked.length - 1]?.key).not.toBe(first);
});

test("a text that was changed after planning is not submitted", async () => {
  const at = planner(whole);
  at.planner.write("{}");
  await at.planner.plan();
  at.planner.write("{ }");
  expect(await at.planner.submit()).toBeNull();
  expect(at.asked.map(({ path }) => path)).toEqual(["/v1/plan", "/v1/jobs?dry_run=true"]);
});

test("a plan stands without the dry run that tells why it waits", async () => {
  const at = planner({ "/v1/plan": plan });
  at.planner.write("{}");
  await at.planner.plan();
  expect(at.now()).toMatchObject({ problem: null, answer: { decision: null } });
});

test("what was given up is ended at the daemon's door, and its answer comes to nothing", async () => {
  let answerNow: (found: Plan) => void = () => undefined;
  const at = planner({ ...whole, "/v1/plan": () => new Promise((resolve) => { answerNow = resolve; }) });
  at.planner.write("{}");
  const asked = at.planner.plan();
  expect(at.now().work).toMatchObject({ kind: "planning" });
  at.planner.giveUp();
  expect(at.asked[0]?.signal?.aborted).toBe(true);
  expect([at.now().work, mayPlan(at.now())]).toEqual([null, true]);
  answerNow(plan());
  await asked;
  expect(at.now()).toMatchObject({ answer: null, problem: null, work: null });
});

test("a plan that does not come within two minutes is given up, and that is said", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => new Promise((_, reject) => {
    init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
  }));
  const store = new Store();
  const slow = new Planner(new Client(null), store);
  slow.write("{}");
  const asked = slow.plan();
  await vi.advanceTimersByTimeAsync(119_000);
  expect(store.state.plan.work).not.toBeNull();
  await vi.advanceTimersByTimeAsync(2_000);
  await asked;
  expect(store.state.plan).toMatchObject({ work: null, problem: { code: "TooLate", message: "no plan came within 120 s" } });
});

test("a job's file begins a text, and a job that is not there says so", async () => {
  const at = planner({ "/v1/jobs/job-1": () => job() });
  await at.planner.beginLike("job-1");
  expect(at.now()).toMatchObject({ begun: { like: "job-1", name: "charlm-demo" }, work: null });
  expect(at.now().text).toBe(at.now().begun?.text);
  await at.planner.beginLike("job-2");
  expect(at.now().problem).toMatchObject({ of: "begin", status: 403 });
});

test("who signs out leaves no text behind", () => {
  const store = new Store();
  store.dispatch({ type: "plan", action: { type: "wrote", text: "{}" } });
  store.dispatch({ type: "signed_out" });
  expect(store.state.plan).toEqual(kEmptyDesk);
});

test("what is kept of a job file that was being written is read back, and anything else is none", () => {
  const draft = { text: "name: a\n", begun: { like: "job-1", name: "a", text: "name: a" }, before: null };
  expect(readDraft(JSON.stringify(draft))).toEqual(draft);
  expect(readDraft(JSON.stringify({ ...draft, begun: null }))).toEqual({ ...draft, begun: null });
  for (const other of [null, "", "null", "7", "{", '{"text":7,"begun":null}', '{"text":"a","begun":{}}', '{"text":"a"}']) expect(readDraft(other)).toBeNull();
});
