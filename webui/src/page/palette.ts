// Colours of jobs. Found by a search for eight colours that stay apart for normal sight and under simulated
// protanopia, deuteranopia and tritanopia, each with at least 3:1 against its surface; tests/webui/unit/palette.test.ts
// measures both. A job keeps its colour on every page and after a reload, because it follows from its id's number.
export const kLight = ["#5d90df", "#886904", "#ae4479", "#7f9e05", "#6b59db", "#842b13", "#ed6196", "#6d2f90"];
export const kDark = ["#5a80f8", "#ec9f16", "#b960a2", "#d8ea7b", "#aeaafe", "#db5823", "#77f2fe", "#15c69f"];

export function jobHue(id: string): number {
  const number = /(\d+)$/.exec(id)?.[1];
  if (number !== undefined) return (Number(number) + kLight.length - 1) % kLight.length;
  let hash = 0;
  for (const letter of id) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  return hash % kLight.length;
}

export function jobColour(id: string, dark: boolean): string {
  return (dark ? kDark : kLight)[jobHue(id)] ?? "#777777";
}

// Relative luminance of "#rrggbb" (WCAG 2.2).
export function luminance(colour: string): number {
  const part = (from: number) => {
    const value = parseInt(colour.slice(from, from + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

// The text colour that reads better on `colour`.
export function inkOn(colour: string): string {
  const [white, black] = ["#ffffff", "#0b1114"];
  return contrast(colour, white) >= contrast(colour, black) ? white : black;
}
