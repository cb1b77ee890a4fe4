// What is wrong with a job file, each part at its line of the text as it stands there now.
import { fieldPlaces, lineOf, type Place, placeAt, placeOf } from "./json_places";
import type { PlanProblem } from "./plan_desk";

export interface ProblemLine {
  line: number | null; // null: not of one place
  place: Place | null;
  field: string | null; // "elastic.min"
  message: string;
}

export function problemLines(problem: PlanProblem, text: string): ProblemLine[] {
  const at = notJson(problem);
  if (at !== null) return [{ line: at.line, place: placeAt(text, at.line, at.column), field: null, message: at.message }];
  const places = fieldPlaces(text);
  const lines = problem.fields.map(({ pointer, message }): ProblemLine => {
    const place = placeOf(places, pointer);
    return { line: place && lineOf(text, place.from), place, field: fieldName(pointer) || null, message };
  });
  return lines.sort((a, b) => (a.place?.from ?? 0) - (b.place?.from ?? 0));
}

// "/elastic/min" as its documents name it: "elastic.min"
export function fieldName(pointer: string): string {
  return pointer.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
}

const kJsonAt = /\[json\.exception\.[^\]]*\] parse error at line (\d+), column (\d+): /;

// Where the daemon says that a text is no JSON, counted from 1, and its words without its library's.
export function notJson({ code, message }: PlanProblem): { line: number; column: number; message: string } | null {
  const found = code === "BadJson" ? kJsonAt.exec(message) : null;
  return found ? { line: Number(found[1]), column: Number(found[2]), message: message.replace(kJsonAt, "") } : null;
}
