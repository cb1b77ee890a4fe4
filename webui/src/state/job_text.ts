// Job files as text: of a job that is there, and a small one to begin with.
import type { Job } from "../api/types";

type Fields = Record<string, unknown>;

const kWidth = 72; // what fits into a line stands in one
const kIndent = "  ";
// In quotes, as JSON has them, stands what YAML might take for something else than that text.
const kPlain = /^[A-Za-z_/][\w./-]*( [\w./-]+)*$/;
const kOtherThanText = /^(null|true|false|yes|no|on|off|y|n)$/i;
const kFirst = ["name", "tenant", "priority", "run", "trainer", "command", "resources", "elastic", "min", "max", "batch", "work"];

// Only sleeps, so that it plans on any pool and is harmless if it is submitted unchanged.
export const kExampleText = writeYaml({
  name: "my-job",
  priority: "normal",
  run: { command: ["sleep", "600"], resize: "restart" },
  resources: { gpus_per_worker: 1 },
  elastic: { min: 1, max: 4 },
});

// The daemon tells a job with every default filled in. What says nothing is left out here, and what a tenant has set is
// left to the tenant, so that the text reads as a file that someone has written.
export function jobText(job: Pick<Job, "spec" | "defaults_from">): string {
  const spec = structuredClone(job.spec ?? {}) as Fields;
  for (const field of Object.keys(job.defaults_from ?? {})) remove(spec, field.split("."));
  withoutReckoned(spec);
  return writeYaml(withoutNothing(spec));
}

function remove(fields: Fields, [first, ...rest]: readonly string[]): void {
  if (first === undefined) return;
  if (rest.length === 0) delete fields[first];
  else if (isObject(fields[first])) remove(fields[first], rest);
}

// The list of sizes follows from min, max and step or group where it has no holes of its own; left in, it would contradict
// a min or max that is changed.
function withoutReckoned(spec: Fields): void {
  const { elastic } = spec;
  if (!isObject(elastic) || !Array.isArray(elastic.sizes)) return;
  const { sizes, min, max } = elastic;
  const step = Number(elastic.step ?? elastic.group ?? 1);
  const reckoned = [];
  for (let size = Number(min); size <= Number(max); size += step) reckoned.push(size);
  if (String(reckoned) === String(sizes)) delete elastic.sizes;
}

function withoutNothing(fields: Fields): Fields {
  const kept: Fields = {};
  const order = [...kFirst.filter((name) => name in fields), ...Object.keys(fields).filter((name) => !kFirst.includes(name))];
  for (const name of order) {
    const value = fields[name];
    const told = isObject(value) ? withoutNothing(value) : value;
    if (told !== null && !(isObject(told) && Object.keys(told).length === 0)) kept[name] = told;
  }
  return kept;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// YAML as people write it: a part without parts of its own that fits into a line is not broken.
export function writeYaml(fields: Fields): string { return `${linesOf(fields, kWidth).join("\n")}\n`; }

function linesOf(value: unknown, room: number): string[] {
  const below = (head: string, item: unknown) => {
    const short = inOneLine(item, room - head.length - 1);
    return short !== null ? [`${head} ${short}`] : [head, ...linesOf(item, room - kIndent.length).map((line) => kIndent + line)];
  };
  if (Array.isArray(value)) return value.flatMap((item) => below("-", item));
  return Object.entries(value as Fields).flatMap(([name, item]) => below(`${wordOf(name)}:`, item));
}

// Null: it has to be broken.
function inOneLine(value: unknown, room: number): string | null {
  const text = flowOf(value);
  const isList = Array.isArray(value);
  const parts = isList || isObject(value) ? Object.values(value) : [];
  if (parts.length === 0) return text;
  const holdsParts = parts.some((part) => isObject(part) || (!isList && Array.isArray(part)));
  return !holdsParts && text.length <= room ? text : null;
}

function flowOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowOf).join(", ")}]`;
  if (!isObject(value)) return wordOf(value);
  return `{${Object.entries(value).map(([name, item]) => `${wordOf(name)}: ${flowOf(item)}`).join(", ")}}`;
}

function wordOf(value: unknown): string {
  const isPlain = typeof value === "string" && kPlain.test(value) && !kOtherThanText.test(value);
  return isPlain ? value : JSON.stringify(value);
}
