// Keeps true what no event tells of jobs that have not ended: that the words of a reason have moved, such as how many
// slots are free now, and what a job costs that reports no steps.
//
// How often: one page of jobs at most every 2 s, soon after an event that may have moved slots or jobs, and once more
// after it, because the decision that follows an event may change words alone; after steps only every 10 s. Without
// events nothing is asked, but every 15 s while somebody may look and a job without steps holds slots.
import type { Client } from "../api/client";
import type { Job, TideEvent } from "../api/types";
import { holdsSlots } from "./model";
import { areSteps, type Feed, PacedRead } from "./paced_read";
import type { Store } from "./store";

const kPace = { leastMs: 2_000, afterMs: 500, stepsMs: 10_000 };
const kSettledMs = 5_000;
const kSilentMs = 15_000;

export class ReasonFeed implements Feed {
  private readonly client: Client;
  private readonly store: Store;
  private readonly onRead: () => void;
  private readonly isSeen: () => boolean;
  private readonly page: PacedRead;
  private cursor: string | null = null; // of the page that is next; null: the first
  private moved = false; // since the first page was read
  private follows = false; // the pages that are being read follow an event; they are read once more

  constructor(client: Client, store: Store, onRead: () => void, isSeen: () => boolean) {
    this.client = client;
    this.store = store;
    this.onRead = onRead;
    this.isSeen = isSeen;
    this.page = new PacedRead(() => this.readPage(), kPace);
  }

  notice(events: readonly TideEvent[]): void {
    if (!areSteps(events)) this.moved = true;
    this.page.notice(events);
  }

  // Jobs were listed, or somebody looks again.
  watch(): void {
    if (this.isSeen() && [...this.store.state.jobs.values()].some(costsUntold)) this.page.want(kSilentMs);
  }

  refresh(): void { this.page.refresh(); }
  stop(): void { this.page.stop(); }

  private async readPage(): Promise<void> {
    if (this.cursor === null) {
      this.follows = this.moved;
      this.moved = false;
    }
    try {
      const page = await this.client.jobsPage("live", this.cursor);
      if (this.page.isStopped) return;
      this.cursor = page.next_cursor;
      this.store.dispatch({ type: "reasons", jobs: page.items });
      this.onRead();
    } catch {
      this.cursor = null; // the stream notices an outage and shows it
      return;
    }
    if (this.cursor !== null || this.moved) this.page.want();
    else if (this.follows) this.page.want(kSettledMs);
    else this.watch();
  }
}

function costsUntold({ state, progress }: Pick<Job, "state" | "progress">): boolean { return holdsSlots(state) && progress.step === 0; }
