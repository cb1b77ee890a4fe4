import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { contrast, inkOn, jobColour, jobHue, kDark, kLight } from "~/page/palette";
import { dashOf } from "~/report/format";

// Linear RGB seen by people without one kind of cone: Machado, Oliveira, Fernandes, "A Physiologically-based Model
// for Simulation of Color Vision Deficiency", IEEE TVCG 2009, table 1, severity 1.
const kSights: Record<string, number[][]> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

const linear = (hex: string): number[] => [1, 3, 5].map((from) => {
  const value = parseInt(hex.slice(from, from + 2), 16) / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
});

// Björn Ottosson's OKLab: distances in it are about as large as they look.
function oklab(rgb: number[]): number[] {
  const [r = 0, g = 0, b = 0] = rgb.map((value) => Math.min(1, Math.max(0, value)));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s, 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s, 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s];
}

function seen(hex: string, sight: number[][]): number[] {
  const rgb = linear(hex);
  return oklab(sight.map((row) => row.reduce((sum, weight, index) => sum + weight * (rgb[index] ?? 0), 0)));
}

const apart = (a: number[], b: number[]) => Math.hypot(...a.map((value, index) => value - (b[index] ?? 0)));

test.each([["light", kLight, "#ffffff"], ["dark", kDark, "#151b1f"]] as const)("colours of jobs, %s: told apart by everybody, seen on the surface, read with text on them", (_, colours, surface) => {
  for (const [sight, matrix] of Object.entries(kSights)) {
    colours.forEach((one, index) => {
      for (const other of colours.slice(index + 1)) {
        expect(apart(seen(one, matrix), seen(other, matrix)), `${one} and ${other}, ${sight}`).toBeGreaterThan(0.09);
      }
    });
  }
  for (const colour of colours) {
    expect(contrast(colour, surface), `${colour} on ${surface}`).toBeGreaterThanOrEqual(3);
    expect(contrast(colour, inkOn(colour)), `text on ${colour}`).toBeGreaterThanOrEqual(4.5);
  }
});

test("a job's colour follows from its number and neighbours in number differ", () => {
  expect(jobHue("job-1")).toBe(0);
  expect(jobColour("job-9", false)).toBe(jobColour("job-1", false));
  expect(jobColour("job-2", true)).not.toBe(jobColour("job-1", true));
  expect(jobHue("no number")).toBe(jobHue("no number"));
});

const styles = new Map(["base", "shell", "overview", "job", "plan", "tenants", "charts"]
  .map((name) => [name, readFileSync(fileURLToPath(new URL(`../../../webui/src/styles/${name}.css`, import.meta.url)), "utf8")]));

// "--ink: light-dark(#141a20, #e9eef1);"
const tokens = new Map([...(styles.get("base") ?? "").matchAll(/--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)]
  .map(([, name, light, dark]) => [name ?? "", [light ?? "", dark ?? ""]]));

test("no text is faded but of what is off, out of date or beside what is pointed at", () => {
  const rules = [...styles.values()].map((css) => css.replaceAll(/\/\*.*?\*\//gs, ""));
  const faded = rules.flatMap((css) => [...css.matchAll(/^ *([^{}@]+?) \{[^}]*[ {]opacity: 0?\.\d/gm)].map(([, rule]) => rule?.trim() ?? ""));
  const marks = [".cell.other", ".bar-fill", ".bar-median"];
  const texts = faded.filter((rule) => !marks.some((mark) => rule.startsWith(mark)));
  expect(texts.sort()).toEqual([".button:is(:disabled, [aria-disabled=\"true\"])", ".card.old > :not(.card-head)", ".dimmed", ".job-table tbody.dimmed"]);
});

test("the colour of a warning is for what asks for a look: no state of a job is one", () => {
  const chips = [...(styles.get("base") ?? "").matchAll(/^\.chip[^{]*\{[^}]*\}/gm)].map(([rule]) => rule);
  expect(chips.length).toBeGreaterThan(3);
  for (const chip of chips) expect(chip).not.toContain("--warn");
});

test("what one writes into, and a slot that is free, has an edge that is seen", () => {
  const edged = [...styles.values()].flatMap((css) => [...css.matchAll(/^ *([^{}@]+?) \{[^}]*var\(--edge\)/gm)].map(([, rule]) => rule ?? ""));
  expect(edged.filter((rule) => !rule.startsWith(":root")).sort()).toEqual([".cell.free, .key.free", "input, select", "textarea"]);
});

test.each([
  ["texts", 4.5, [["ink-3", "surface"], ["ink-3", "bg"], ["ink-3", "surface-2"], ["ink-2", "accent-soft"], ["accent", "surface"],
    ["warn", "warn-soft"], ["bad", "bad-soft"], ["good", "good-soft"], ["accent", "accent-soft"]]],
  ["edges of fields and of free slots", 3, [["edge", "surface"], ["edge", "bg"], ["edge", "surface-2"]]],
  ["bars", 3, [["accent", "slot-free"], ["warn", "slot-free"], ["bad", "slot-free"], ["bad", "slot-cordoned"], ["ink-3", "slot-free"], ["ink", "slot-free"]]],
] as const)("%s stand out from what they lie on, light and dark", (_, least, pairs) => {
  for (const [front, back] of pairs) {
    for (const look of [0, 1]) {
      const [a, b] = [tokens.get(front)?.[look], tokens.get(back)?.[look]];
      expect(contrast(a ?? "", b ?? ""), `${front} on ${back}, ${look === 0 ? "light" : "dark"}`).toBeGreaterThanOrEqual(least);
    }
  }
});

test("no two of thirty policies of a report have the same colour and the same stroke", () => {
  const looks = Array.from({ length: 30 }, (_, index) => `${kLight[index % kLight.length]} ${dashOf(index)}`);
  expect(new Set(looks).size).toBe(30);
  expect(dashOf(0)).toEqual([]);
});
