// Numbers of the report. One unit for all times of a table, so that they can be compared at a glance.
export interface Unit { name: string; short: string; seconds: number }

export function unitFor(typicalS: number): Unit {
  if (typicalS >= 3 * 86_400) return { name: "days", short: "d", seconds: 86_400 };
  if (typicalS >= 7_200) return { name: "hours", short: "h", seconds: 3_600 };
  if (typicalS >= 120) return { name: "minutes", short: "min", seconds: 60 };
  return { name: "seconds", short: "s", seconds: 1 };
}

export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2);
}

// For axes: "90 s", "30 min", "12 h", "4 d".
export function timeText(seconds: number): string {
  const trimmed = (value: number) => Number(value.toPrecision(3)).toString();
  if (seconds >= 2 * 86_400) return `${trimmed(seconds / 86_400)} d`;
  if (seconds >= 3_600) return `${trimmed(seconds / 3_600)} h`;
  if (seconds >= 60) return `${trimmed(seconds / 60)} min`;
  return `${trimmed(seconds)} s`;
}

// A stroke of its own beside the colour, for people who cannot tell colours apart.
const kDashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2], [12, 4], [1, 2], [6, 2, 2, 2]];

// From the ninth curve on colours come again, each with another stroke than before.
export function dashOf(index: number): number[] {
  return kDashes[(index + Math.floor(index / kDashes.length)) % kDashes.length] ?? [];
}
