// A real daemon for one test file: `schedulerd --dev` with an agent of some CPU slots, which ends with it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const bin = process.env.TIDEPOOL_BIN_DIR;
export const source = process.env.TIDEPOOL_SOURCE_DIR;
const kReadyMs = 60_000;

// The daemon's promise: one line "ready {…}" when it serves. With `stateDir` it keeps its state there and has no node yet.
export async function startDaemon({ slots, stateDir = null }) {
  assert.ok(bin && source, "TIDEPOOL_BIN_DIR and TIDEPOOL_SOURCE_DIR must be set; ctest sets them");
  const program = join(bin, "schedulerd");
  assert.ok(existsSync(program), `${program} is missing: build the target schedulerd`);
  const where = stateDir === null ? ["--dev", "--local-slots", String(slots)] : ["--state-dir", stateDir];
  const process = spawn(program, [...where, "--listen", "127.0.0.1:0", "--policy", "tidal"], { stdio: ["ignore", "pipe", "pipe"] });
  let complaint = "";
  process.stderr.on("data", (text) => { complaint = (complaint + text).slice(-4000); });
  const lines = createInterface({ input: process.stdout });
  const ready = await new Promise((resolve, reject) => {
    lines.on("line", (line) => { if (line.startsWith("ready ")) resolve(JSON.parse(line.slice(6))); });
    process.once("exit", (code) => reject(new Error(`schedulerd ended with ${code}: ${complaint}`)));
    setTimeout(() => reject(new Error(`schedulerd was not ready in ${kReadyMs} ms: ${complaint}`)), kReadyMs).unref();
  });
  return new Daemon(process, { token: stateDir && readFileSync(join(stateDir, "admin.token"), "utf8").trim(), ...ready });
}

class Daemon {
  constructor(process, ready) {
    this.process = process;
    this.ready = ready;
  }

  async api(method, path, body) {
    const response = await fetch(this.ready.url + path, {
      method, headers: { Authorization: `Bearer ${this.ready.token}`, ...(body ? { "Content-Type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  address(hash, token = this.ready.token) { return `${this.ready.dashboard}${hash}&token=${encodeURIComponent(token)}`; }

  // A daemon leaves its agent alone while a job runs, so that it can come back to it: the jobs end first.
  async stop() {
    for (const { id } of (await this.api("GET", "/v1/jobs?limit=500")).items) {
      const job = () => this.api("GET", `/v1/jobs/${id}`);
      if ((await job()).finished_at === null) await this.api("DELETE", `/v1/jobs/${id}`);
      await eventually("the end of the jobs", async () => (await job()).finished_at !== null);
    }
    if (this.process.exitCode !== null) return;
    this.process.kill("SIGTERM");
    await new Promise((ended) => { this.process.once("exit", ended); });
  }
}

// Waits until `check` gives something true; asks again every 100 ms, for at most `limit`.
export async function eventually(what, check, limit = 30_000) {
  const end = Date.now() + limit;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > end) assert.fail(`not within ${limit} ms: ${what}`);
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
}
