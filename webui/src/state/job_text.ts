// Job files as text: of a job that is there, and a small one to begin with.
import type { Job } from "../api/types";

type Fields = Record<string, unknown>;

const kWidth = 72; // what fits into a line stands in one
const kFirst = ["name", "tenant", "priority", "run", "trainer", "command", "resources", "elastic", "min", "max", "batch", "work"];

// Only sleeps, so that it plans on any pool and is harmless if it is submitted unchanged.
export const kExampleText = writeJson({
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
  return writeJson(withoutNothing(spec));
}

function remove(fields: Fields, [first, ...rest]: readonly string[]): void {
  if (first === undefined) return;
  if (rest.length === 0) delete fields[first];
  else if (isObject(fields[first])) remove(fields[first], rest);
}

// The list of sizes follows from min, max and step where it has no holes of its own; left in, it would contradict
// a min or max that is changed.
function withoutReckoned(spec: Fields): void {
  const { elastic } = spec;
  if (!isObject(elastic) || !Array.isArray(elastic.sizes)) return;
  const { sizes, min, max } = elastic;
  const step = typeof elastic.step === "number" ? elastic.step : 1;
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

// JSON as people write it: a part that fits into a line is not broken.
export function writeJson(value: unknown, indent = "", used = 0): string {
  const short = inOneLine(value);
  const isWhole = indent === "" && isObject(value);
  if (!isWhole && indent.length + used + short.length <= kWidth) return short;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => inner + writeJson(item, inner)).join(",\n")}\n${indent}]`;
  }
  if (!isObject(value)) return short;
  const lines = Object.entries(value).map(([name, item]) => {
    const head = `${JSON.stringify(name)}: `;
    return inner + head + writeJson(item, inner, head.length);
  });
  return `{\n${lines.join(",\n")}\n${indent}}`;
}

function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inOneLine).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${inOneLine(item)}`).join(", ")}}`;
}
