import { backoffMs, EventStream, SseParser } from "~/api/event_stream";
import { Client } from "~/api/client";
import type { TideEvent } from "~/api/types";
import { event } from "./samples";

test("a message cut anywhere comes out whole", () => {
  const text = `: hello\r\n\r\nid: 7\r\nevent: job.started\r\ndata: {"a":1,\r\ndata: "b":2}\r\n\r\nid: 8\ndata:x\n\n`;
  for (let cut = 1; cut < text.length; ++cut) {
    const parser = new SseParser();
    const messages = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
    expect(messages).toEqual([{ event: "job.started", data: '{"a":1,\n"b":2}' }, { event: "message", data: "x" }]);
  }
});

test("the wait grows, is bounded and is never the same for all tabs", () => {
  expect(backoffMs(0, 0)).toBe(250);
  expect(backoffMs(0, 1)).toBe(500);
  expect(backoffMs(3, 1)).toBe(4000);
  expect(backoffMs(30, 1)).toBe(15000);
});

const line = (sent: TideEvent) => `id: ${sent.seq}\nevent: ${sent.type}\ndata: ${JSON.stringify(sent)}\n\n`;

// Follows scripted answers, one for each connection, until `until` is true.
async function follow(answers: (Response | number)[], until: (log: { seen: number[]; resets: number; refused: number; asked: string[] }) => boolean) {
  const log = { seen: [] as number[], resets: 0, refused: 0, asked: [] as string[] };
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    log.asked.push(`${url.split("?")[1]} ${(init.headers as Record<string, string>).Authorization}`);
    const answer = answers.shift();
    if (answer === undefined) return new Promise(() => {});
    if (typeof answer === "number") return new Response(JSON.stringify({ detail: "no" }), { status: answer });
    return answer;
  });
  const stream = new EventStream(new Client("secret"), 5, {
    onOpen: () => {}, onEvents: (events) => { log.seen.push(...events.map((sent) => sent.seq)); }, onReset: () => { log.resets += 1; },
    onDown: () => stream.retryNow(), onRefused: () => { log.refused += 1; },
  });
  await vi.waitFor(() => { if (!until(log)) throw new Error(JSON.stringify(log)); });
  stream.close();
  vi.unstubAllGlobals();
  return log;
}

test("a broken stream goes on after the last event seen, and shows none twice", async () => {
  const log = await follow(
    [new Response(line(event(6, "job.started", {})) + line(event(7, "job.started", {}))), 503, new Response(line(event(7, "job.started", {})) + line(event(8, "job.started", {})))],
    ({ seen, asked }) => seen.length === 3 && asked.length >= 4);
  expect(log.seen).toEqual([6, 7, 8]);
  expect(log.asked.slice(0, 3)).toEqual(["after=5 Bearer secret", "after=7 Bearer secret", "after=7 Bearer secret"]);
});

test("reset asks to list again and ends this stream", async () => {
  const log = await follow([new Response('event: reset\ndata: {"oldest": 900}\n\n')], ({ resets }) => resets === 1);
  expect(log.asked).toHaveLength(1);
});

test("a refused token is not tried again", async () => {
  const log = await follow([401], ({ refused }) => refused === 1);
  expect(log.asked).toHaveLength(1);
});
