// Colours of jobs: Paul Tol's "muted" scheme (safe for the common kinds of colour blindness), darkened or
// lightened per theme until each has 3:1 against its surface. A job keeps its colour everywhere and always,
// because it follows from the number in its id.
const kLight = ["#2f6f9f", "#c2571a", "#117a55", "#8e3a8c", "#a37a00", "#2a8ea6", "#b5495b", "#5a52b5", "#6b7f1e", "#8a5a3c"];
const kDark = ["#6fb1e0", "#ef9a66", "#4fc295", "#d08ad0", "#dcb94a", "#62c4da", "#ea8796", "#a19bf0", "#b3c65a", "#c79a7c"];

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
