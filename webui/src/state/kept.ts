// The map before where the one after holds the very same: who draws from it then has nothing to do.
export function kept<T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  if (before.size !== after.size) return after;
  for (const [id, item] of after) if (before.get(id) !== item) return after;
  return before;
}
