// The page that plans a job: the text, what was answered to it, what is being asked. Pure. It outlives a look at
// other pages, so that one can follow a link of the answer and come back.
import type { Plan, SubmitDecision } from "../api/plan_types";

// An answer is of one text; submitting sends that text with the answer's key, so that a repeated try makes no second job.
export interface PlanAnswer {
  text: string;
  plan: Plan;
  decision: SubmitDecision | null; // null: could not be read; the plan stands without it
  key: string;
}

export interface PlanProblem {
  of: "begin" | "plan" | "submit";
  status: number; // 0 = the daemon did not answer
  code: string;
  message: string;
  fields: readonly { pointer: string; message: string; line?: number }[];
  hint: string | null;
}

export type PlanWork = { kind: "reading"; like: string } | { kind: "planning"; since: number } | { kind: "submitting" };

export interface PlanDesk {
  text: string;
  begun: { like: string | null; name: string; text: string } | null; // from what the text was begun; null: by hand
  before: string | null; // the text in whose place that came
  work: PlanWork | null;
  answer: PlanAnswer | null;
  problem: PlanProblem | null;
  submitted: { id: string; name: string } | null; // what the text has become
}

export const kEmptyDesk: PlanDesk = {
  text: "", begun: null, before: null, work: null, answer: null, problem: null, submitted: null,
};

export type PlanAction =
  | { type: "found"; desk: PlanDesk }
  | { type: "wrote"; text: string }
  | { type: "working"; work: PlanWork }
  | { type: "begun"; like: string | null; name: string; text: string }
  | { type: "taken_back" }
  | { type: "answered"; answer: PlanAnswer }
  | { type: "failed"; problem: PlanProblem }
  | { type: "gave_up" }
  | { type: "submitted"; id: string; name: string };

export function reducePlan(desk: PlanDesk, action: PlanAction): PlanDesk {
  switch (action.type) {
    case "found":
      return action.desk;
    case "wrote":
      return { ...desk, text: action.text, submitted: null };
    case "working":
      return { ...desk, work: action.work, problem: null };
    case "begun": {
      const { like, name, text } = action;
      const before = desk.text.trim() === "" || desk.text === text ? null : desk.text;
      return { ...desk, text, begun: { like, name, text }, before, work: null, problem: null, submitted: null };
    }
    case "taken_back":
      return { ...desk, text: desk.before ?? "", begun: null, before: null, problem: null };
    case "answered":
      return { ...desk, answer: action.answer, work: null, problem: null };
    case "failed":
      return { ...desk, work: null, problem: action.problem };
    case "gave_up":
      return { ...desk, work: null };
    case "submitted":
      return { ...desk, work: null, answer: null, problem: null, submitted: { id: action.id, name: action.name } };
  }
}

// What is left where a token was refused: the text is its writer's own work, the rest was told to that token.
export function keptText({ text, begun, before }: PlanDesk): PlanDesk {
  return { ...kEmptyDesk, text, begun, before };
}

// The answer is to another text than the one that stands there now.
export function isOfEarlierText(desk: PlanDesk): boolean {
  return desk.answer !== null && desk.answer.text !== desk.text;
}

export function mayPlan(desk: PlanDesk): boolean { return desk.work === null && desk.text.trim() !== ""; }

// Only what was planned is submitted, and only while it stands there to be read.
export function maySubmit(desk: PlanDesk): boolean {
  return desk.work === null && desk.answer !== null && !isOfEarlierText(desk);
}
