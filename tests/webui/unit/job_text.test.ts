import { jobText, kExampleText, writeYaml } from "~/state/job_text";
import type { PlanProblem } from "~/state/plan_desk";
import { fieldName, problemLines } from "~/state/plan_problems";
import { placeOfLine } from "~/state/text_lines";

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
const text = (more: object, defaults_from = {}) => jobText({ spec: { ...spec, ...more }, defaults_from } as Parameters<typeof jobText>[0]);

test("a job's file reads as someone has written it: what says nothing is left out, what one looks for comes first", () => {
  expect(text({})).toBe([
    "name: urgent", "priority: 10", "run:", "  trainer: charlm", "  args:", "    data: [/data/a]", "    steps: 400",
    "elastic: {min: 2, max: 4, cooldown: \"1m\"}", "batch: {global: 256, on_resize: constant}",
    "placement:", "  selector:", "    rack: [a, b]", "",
  ].join("\n"));
});

test("what a tenant has set is left to the tenant", () => {
  const left = text({}, { "elastic.cooldown": "demo", priority: "demo", "no.such": "demo" });
  expect(left).toContain("elastic: {min: 2, max: 4}\n");
  expect(left).not.toContain("priority");
  expect(text({}, { "elastic.cooldown": "demo" })).toContain("priority: 10\n");
});

test("sizes that follow from min, max and step are left out, so that max can be changed; others stay", () => {
  expect(text({})).not.toContain("sizes");
  expect(text({ elastic: { min: 2, max: 7, step: 2, sizes: [2, 4, 6] } })).toContain("elastic: {min: 2, max: 7, step: 2}\n");
  expect(text({ elastic: { group: 4, min: 4, max: 12, step: null, sizes: [4, 8, 12] } })).toContain("elastic: {min: 4, max: 12, group: 4}\n");
  expect(text({ elastic: { min: 1, max: 4, step: null, sizes: [1, 2, 4] } })).toContain("elastic:\n  min: 1\n  max: 4\n  sizes: [1, 2, 4]\n");
});

test("what fits into a line stands in one, and what does not is broken into its parts", () => {
  expect(kExampleText).toBe("name: my-job\npriority: normal\nrun:\n  command: [sleep, \"600\"]\n  resize: restart\nresources: {gpus_per_worker: 1}\nelastic: {min: 1, max: 4}\n");
  const long = "x".repeat(60);
  expect(writeYaml({ run: { command: ["python", long], list: [{ a: [1] }, {}, []] } })).toBe(`run:\n  command:\n    - python\n    - ${long}\n  list:\n    -\n      a: [1]\n    - {}\n    - []\n`);
});

test("a text that YAML might take for something else, or cut, stands in quotes", () => {
  const plain = ["charlm", "/data/a", "a b", "v1.2-x_y", "_z"];
  expect(writeYaml({ plain })).toBe("plain: [charlm, /data/a, a b, v1.2-x_y, _z]\n");
  for (const word of ["600", "1m", "true", "No", "null", "~", "", "-x", ".5", "0x1f", " a", "a ", "a: b", "a #b", "a,b", "[a", "{a", "*a", "&a", "!a", "%a", "@a", "a\nb", "'a", '"a', "ä"]) {
    expect(writeYaml({ word })).toBe(`word: ${JSON.stringify(word)}\n`);
  }
  expect(writeYaml({ labels: { "a/b": "x", "1": true, "c: d": null, m: 1.5 } })).toBe('labels: {"1": true, a/b: x, "c: d": null, m: 1.5}\n');
});

const file = "name: x\nelastic:\n  min: 8\n  a/b: 1\n";

test("a line is shown without the blanks around it, and one that is not there is the end", () => {
  const shown = (line: number) => { const { from, to } = placeOfLine(file, line); return file.slice(from, to); };
  expect([1, 2, 3, 4, 5].map(shown)).toEqual(["name: x", "elastic:", "min: 8", "a/b: 1", ""]);
  expect(placeOfLine(file, 99)).toEqual({ from: file.length, to: file.length });
});

const problem = (more: Partial<PlanProblem>): PlanProblem => ({ of: "plan", status: 422, code: "InvalidJob", message: "2 fields need a change", fields: [], hint: null, ...more });

test("what the daemon has against a text stands at its lines, in their order", () => {
  const fields = [{ pointer: "/elastic/min", message: "min is 8", line: 3 }, { pointer: "/run", message: "is missing" }, { pointer: "/name", message: "is short", line: 1 }];
  expect(problemLines(problem({ fields }), file).map(({ line, field, message }) => [line, field, message])).toEqual([
    [null, "run", "is missing"], [1, "name", "is short"], [3, "elastic.min", "min is 8"]]);
  expect(problemLines(problem({ fields }), file)[2]?.place).toEqual(placeOfLine(file, 3));
  expect(fieldName("/labels/a~1b")).toBe("labels.a/b");
});

test("where a text is no YAML is told by its line", () => {
  const lines = (message: string, code = "BadYaml") => problemLines(problem({ status: 400, code, message }), "name: x\nrun: [");
  expect(lines("line 2: not valid YAML: end of sequence not found")).toMatchObject([{ line: 2, place: { from: 8, to: 14 }, message: "end of sequence not found" }]);
  expect(lines('line 2: the field "run" appears twice; keep one of them')).toMatchObject([{ line: 2, message: 'the field "run" appears twice; keep one of them' }]);
  expect(lines("the file has 2000000 bytes; it may have at most 1048576")).toEqual([]);
});
