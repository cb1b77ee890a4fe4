// The only file that subscribes. One stream per tab over fetch, because EventSource cannot send a token.
// It reconnects with backoff from the last event seen; after `reset` the caller must list again.
import { ApiError, type Client } from "./client";
import type { TideEvent } from "./types";

export interface SseMessage {
  event: string;
  data: string;
}

// Cuts a stream of text into messages (WHATWG HTML, section 9.2.6). Feed it chunks in any cut.
export class SseParser {
  private rest = "";
  private event = "";
  private data: string[] = [];

  push(chunk: string): SseMessage[] {
    const out: SseMessage[] = [];
    const lines = (this.rest + chunk).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (this.data.length > 0) out.push({ event: this.event || "message", data: this.data.join("\n") });
        this.event = "";
        this.data = [];
      } else if (!line.startsWith(":")) {
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "event") this.event = value;
        if (field === "data") this.data.push(value);
      }
    }
    return out;
  }
}

export interface StreamHandlers {
  onOpen(): void;
  onEvents(events: TideEvent[]): void;
  onReset(): void; // the daemon no longer holds what was missed
  onDown(error: ApiError, retryInMs: number): void;
  onRefused(error: ApiError): void; // the token is no good: no retry
}

const kFirstRetryMs = 500;
const kLongestRetryMs = 15_000;
// The daemon sends a comment at least this often; silence means the connection is dead.
const kSilenceMs = 45_000;
const kOpenMs = 15_000; // a browser that has no connection left waits without end

export function backoffMs(attempt: number, chance: number): number {
  const ceiling = Math.min(kLongestRetryMs, kFirstRetryMs * 2 ** attempt);
  return Math.round(ceiling * (0.5 + 0.5 * chance));
}

const unreachable = (message: string) => new ApiError(0, "Unreachable", message);

// After close() no handler is called, whatever was under way.
export class EventStream {
  private readonly client: Client;
  private readonly handlers: StreamHandlers;
  private last: number;
  private attempt = 0;
  private abort = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private opened = false;
  private closed = false;

  constructor(client: Client, after: number, handlers: StreamHandlers) {
    this.client = client;
    this.last = after;
    this.handlers = handlers;
    void this.run();
  }

  close(): void {
    this.closed = true;
    this.pause();
  }

  // Gives the connection back; retryNow() goes on from the last event seen.
  pause(): void {
    this.opened = false;
    clearTimeout(this.timer);
    this.abort.abort();
  }

  // Skips what is left of the wait, or begins anew where a connection is still being opened.
  retryNow(): void {
    if (this.opened || this.closed) return;
    this.pause();
    void this.run();
  }

  private async run(): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    const limit = setTimeout(() => this.fail(abort, unreachable("the daemon does not answer")), kOpenMs);
    try {
      const response = await this.client.openStream(this.last, abort.signal);
      clearTimeout(limit);
      if (abort.signal.aborted) return;
      this.opened = true;
      this.handlers.onOpen();
      await this.read(response, abort);
      this.fail(abort, new ApiError(0, "StreamEnded", "the daemon closed the stream"));
    } catch (failure) {
      this.fail(abort, failure instanceof ApiError ? failure : unreachable("the connection was lost"));
    } finally {
      clearTimeout(limit);
    }
  }

  // Ends a connection, once, and tries again later; one that was given up before does nothing more.
  private fail(abort: AbortController, error: ApiError): void {
    if (abort.signal.aborted) return;
    abort.abort();
    this.opened = false;
    if (error.status === 401 || error.status === 403) return this.handlers.onRefused(error);
    const wait = backoffMs(this.attempt++, Math.random());
    this.timer = setTimeout(() => { void this.run(); }, wait);
    this.handlers.onDown(error, wait);
  }

  private async read(response: Response, abort: AbortController): Promise<void> {
    if (!response.body) throw new ApiError(0, "NoBody", "the daemon sent no stream");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new SseParser();
    const silence = () => setTimeout(() => this.fail(abort, unreachable("the connection was lost")), kSilenceMs);
    let watchdog = silence();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done || abort.signal.aborted) return;
        clearTimeout(watchdog);
        watchdog = silence();
        this.attempt = 0;
        this.deliver(parser.push(value));
      }
    } finally {
      clearTimeout(watchdog);
    }
  }

  private deliver(messages: SseMessage[]): void {
    const events: TideEvent[] = [];
    for (const message of messages) {
      if (message.event === "reset") {
        this.close();
        return this.handlers.onReset();
      }
      const event = JSON.parse(message.data) as TideEvent;
      if (event.seq <= this.last) continue;
      this.last = event.seq;
      events.push(event);
    }
    if (events.length > 0) this.handlers.onEvents(events);
  }
}
