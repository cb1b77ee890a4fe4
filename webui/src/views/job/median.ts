// The middle one of values in any order; of an even number of them, the mean of the middle two. Of none: 0.
export function median(values: readonly number[]): number {
  const ordered = [...values].sort((a, b) => a - b);
  const middle = Math.floor(ordered.length / 2);
  const upper = ordered[middle] ?? 0;
  return ordered.length % 2 === 1 ? upper : (upper + (ordered[middle - 1] ?? upper)) / 2;
}
