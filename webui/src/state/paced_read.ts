// Reads one thing from the daemon no more often than its pace, however often it is wanted. Wants that come while
// it waits or reads are one; without a want nothing is asked.
import type { TideEvent } from "../api/types";

// What the session tells of its stream, whatever is read because of it.
export interface Feed {
  notice(events: readonly TideEvent[]): void; // the stream has brought them
  refresh(): void; // what events had said may have been missed
  stop(): void;
}

export interface Pace {
  leastMs: number; // between two reads
  afterMs?: number; // after events, the time in which all is to be settled; 0 if absent
  stepsMs?: number; // after steps alone, which move little; as after other events if absent
}

export class PacedRead implements Feed {
  private readonly read: () => Promise<void>;
  private readonly pace: Pace;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private dueAt = Infinity;
  private beganAt = -Infinity;
  private reading = false;
  private stopped = false;

  // `read` deals with its own failures; one that it does not ends that read alone.
  constructor(read: () => Promise<void>, pace: Pace) {
    this.read = read;
    this.pace = pace;
  }

  notice(events: readonly TideEvent[]): void {
    if (events.length === 0) return;
    const { afterMs = 0, stepsMs = afterMs } = this.pace;
    this.want(areSteps(events) ? stepsMs : afterMs);
  }

  refresh(): void { this.want(); }

  // Within `patienceMs`, or as soon after that as the pace allows.
  want(patienceMs = 0): void {
    if (this.stopped) return;
    const at = Math.max(Date.now() + patienceMs, this.beganAt + this.pace.leastMs);
    if (at >= this.dueAt) return;
    this.dueAt = at;
    if (!this.reading) this.arm();
  }

  // Forgets the pace: what is asked for next is another question than the last one.
  restart(): void {
    this.beganAt = -Infinity;
    this.want();
  }

  // What a read brings after this is of no use any more.
  get isStopped(): boolean { return this.stopped; }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private arm(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { void this.run(); }, Math.max(0, this.dueAt - Date.now()));
  }

  private async run(): Promise<void> {
    this.dueAt = Infinity;
    this.beganAt = Date.now();
    this.reading = true;
    try {
      await this.read();
    } finally {
      this.reading = false;
      if (this.dueAt < Infinity && !this.stopped) this.arm();
    }
  }
}

export function areSteps(events: readonly TideEvent[]): boolean { return events.every((event) => event.type === "job.progressed"); }
