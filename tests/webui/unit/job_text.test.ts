import { jobText, kExampleText, writeJson } from "~/state/job_text";
import { fieldPlaces, lineOf, placeAt, placeOf } from "~/state/json_places";
import type { PlanProblem } from "~/state/plan_desk";
import { fieldName, problemLines } from "~/state/plan_problems";

// As GET /v1/jobs/{id} echoes a file, with every default.
const spec = {
  batch: { global: 256, global_max: null, on_resize: "constant" },
  checkpoint: { dir: null, every: null },
  elastic: { cooldown: "1m", max: 4, min: 2, sizes: [2, 3, 4], step: null },
  labels: {},
  name: "urgent",
  placement: { selector: { rack: ["a", "b"] } },
  priority: 10,
  run: { args: { data: ["/data/a"], steps: 400 }, env: {}, trainer: "charlm", workdir: null },
};
const text = (more: object, defaults_from = {}) => JSON.parse(jobText({ spec: { ...spec, ...more }, defaults_from } as Parameters<typeof jobText>[0]));

test("a job's file reads as someone has written it: what says nothing is left out, what one looks for comes first", () => {
  const file = text({});
  expect(Object.keys(file)).toEqual(["name", "priority", "run", "elastic", "batch", "placement"]);
  expect(Object.keys(file.elastic)).toEqual(["min", "max", "cooldown"]);
  expect(file.run).toEqual({ args: { data: ["/data/a"], steps: 400 }, trainer: "charlm" });
  expect(file.batch).toEqual({ global: 256, on_resize: "constant" });
});

test("what a tenant has set is left to the tenant", () => {
  expect(text({}, { "elastic.cooldown": "demo", priority: "demo", "no.such": "demo" })).toMatchObject({ elastic: { min: 2, max: 4 } });
  expect(text({}, { "elastic.cooldown": "demo" }).elastic).not.toHaveProperty("cooldown");
  expect(text({}, { priority: "demo" })).not.toHaveProperty("priority");
});

test("sizes that follow from min, max and step are left out, so that max can be changed; others stay", () => {
  expect(text({}).elastic).not.toHaveProperty("sizes");
  expect(text({ elastic: { min: 2, max: 7, step: 2, sizes: [2, 4, 6] } }).elastic).toEqual({ min: 2, max: 7, step: 2 });
  expect(text({ elastic: { min: 1, max: 4, step: null, sizes: [1, 2, 4] } }).elastic).toEqual({ min: 1, max: 4, sizes: [1, 2, 4] });
});

test("what fits into a line stands in one", () => {
  expect(writeJson({ name: "a", elastic: { min: 1, max: 4 } })).toBe('{\n  "name": "a",\n  "elastic": {"min": 1, "max": 4}\n}');
  const long = writeJson({ run: { command: ["python", "x".repeat(60)], resize: "restart" } });
  expect(long.split("\n").slice(0, 3)).toEqual(["{", '  "run": {', `    "command": ["python", "${"x".repeat(60)}"],`].map((line) => (line.length > 80 ? '    "command": [' : line)));
  expect(JSON.parse(long)).toEqual({ run: { command: ["python", "x".repeat(60)], resize: "restart" } });
  expect(JSON.parse(kExampleText)).toMatchObject({ run: { resize: "restart" } });
});

const file = '{\n  "name": "x",\n  "elastic": {"min": 8, "a/b": 1},\n  "sizes": [1, {"k": 2}]\n}';
const shown = (pointer: string) => {
  const place = placeOf(fieldPlaces(file), pointer);
  return place && [lineOf(file, place.from), file.slice(place.from, place.to)];
};

test("a field is found by its pointer, and of a missing one the part in which it is missing", () => {
  expect(shown("/name")).toEqual([2, '"name": "x"']);
  expect(shown("/elastic/min")).toEqual([3, '"min": 8']);
  expect(shown("/elastic/a~1b")).toEqual([3, '"a/b": 1']);
  expect(shown("/sizes/1/k")).toEqual([4, '"k": 2']);
  expect(shown("/elastic/max")).toEqual([3, '"elastic": {"min": 8, "a/b": 1}']);
  expect(shown("/run/trainer")).toBeNull();
});

test("a text that is no JSON is read as far as it is, and never for ever", () => {
  for (let end = 0; end < file.length; end += 1) expect(fieldPlaces(file.slice(0, end)).size).toBeGreaterThan(0);
  expect(placeOf(fieldPlaces(file.slice(0, 40)), "/name")).not.toBeNull();
  expect(fieldPlaces('{"a": }').has("/a")).toBe(true);
  expect(placeAt(file, 2, 3)).toEqual({ from: 4, to: 5 });
  expect(placeAt(file, 99, 1).from).toBe(file.length);
});

const problem = (more: Partial<PlanProblem>): PlanProblem => ({ of: "plan", status: 422, code: "InvalidJob", message: "2 fields need a change", fields: [], hint: null, ...more });

test("what the daemon has against a text stands at its lines, in their order", () => {
  const fields = [{ pointer: "/elastic/min", message: "min is 8" }, { pointer: "/run", message: "is missing" }, { pointer: "/name", message: "is short" }];
  expect(problemLines(problem({ fields }), file).map(({ line, field, message }) => [line, field, message])).toEqual([
    [null, "run", "is missing"], [2, "name", "is short"], [3, "elastic.min", "min is 8"]]);
  expect(fieldName("/labels/a~1b")).toBe("labels.a/b");
});

test("where a text is no JSON is told by line, without the name of the daemon's library", () => {
  const message = "not valid JSON: [json.exception.parse_error.101] parse error at line 2, column 7: syntax error while parsing value - unexpected '}'";
  const [line] = problemLines(problem({ status: 400, code: "BadJson", message }), '{"name": "x",\n "a": }');
  expect(line).toMatchObject({ line: 2, place: { from: 20, to: 21 }, message: "not valid JSON: syntax error while parsing value - unexpected '}'" });
});
