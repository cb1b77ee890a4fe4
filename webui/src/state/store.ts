// Holds the state of the tab and tells components when the part they read has changed.
import { useEffect, useReducer, useRef } from "preact/hooks";
import { kEmptyState, type State } from "./model";
import { type Action, reduce } from "./reducer";

export class Store {
  private current: State = kEmptyState;
  private readonly listeners = new Set<() => void>();

  get state(): State { return this.current; }

  dispatch(action: Action): void {
    this.current = reduce(this.current, action);
    for (const listener of [...this.listeners]) listener();
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => { this.listeners.delete(listener); };
  }
}

export const store = new Store();

// Renders again only when what `select` returns is another object or value.
export function useSelect<T>(select: (state: State) => T): T {
  const [, render] = useReducer<number, void>((n) => n + 1, 0);
  const value = select(store.state);
  const seen = useRef({ select, value });
  seen.current = { select, value };
  useEffect(() => store.subscribe(() => {
    if (!Object.is(seen.current.select(store.state), seen.current.value)) render();
  }), []);
  return value;
}
