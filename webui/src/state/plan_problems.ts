// What is wrong with a job file, each part at its line of the text as it stands there now.
import type { PlanProblem } from "./plan_desk";
import { type Place, placeOfLine } from "./text_lines";

export interface ProblemLine {
  line: number | null; // null: not of one place
  place: Place | null;
  field: string | null; // "elastic.min"
  message: string;
}

export function problemLines(problem: PlanProblem, text: string): ProblemLine[] {
  const at = notYaml(problem);
  if (at !== null) return [{ line: at.line, place: placeOfLine(text, at.line), field: null, message: at.message }];
  const lines = problem.fields.map(({ pointer, message, line = null }): ProblemLine => {
    const place = line === null ? null : placeOfLine(text, line);
    return { line, place, field: fieldName(pointer) || null, message };
  });
  return lines.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

// "/elastic/min" as its documents name it: "elastic.min"
export function fieldName(pointer: string): string {
  return pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
}

// Where the daemon says that a text cannot be read, counted from 1, and its words without the place.
export function notYaml({ code, message }: PlanProblem): { line: number; message: string } | null {
  const [, line, what] = (code === "BadYaml" && /^line (\d+): (?:not valid YAML: )?(.+)$/s.exec(message)) || [];
  return line === undefined || what === undefined ? null : { line: Number(line), message: what };
}
