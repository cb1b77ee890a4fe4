// The tables of the state database. A change here is a new schema version, and so is a change of what the bodies of
// facts, decisions and snapshots hold (core/codec/codec.hpp). Version 7 has lengths that programs tell, sizes measured
// side by side, a maximal batch, and what the engine goes by as fields beside the reasons;
// version 6 the jobs of workers that are gone; version 5 the types of slots that jobs
// ask for, and deadlines; version 4 policy files, and what each decision weighed; version 3 plans for the whole
// cluster, shares of a step and measured nodes; version 2 parking, checkpoints and stuck workers. None of the earlier
// ones was released, and none is read.
#pragma once

namespace tidepool::live {

inline constexpr int kSchemaVersion = 7;

inline constexpr const char* kSchema = R"sql(
CREATE TABLE journal(
  seq INTEGER PRIMARY KEY,       -- without gaps
  at_us INTEGER NOT NULL,        -- on the daemon's time line
  kind TEXT NOT NULL,            -- fact | decision
  body TEXT NOT NULL,
  digest INTEGER NOT NULL);      -- of the four above
CREATE TABLE snapshots(seq INTEGER PRIMARY KEY, body TEXT NOT NULL, digest INTEGER NOT NULL);
CREATE TABLE clock(
  id INTEGER PRIMARY KEY CHECK(id = 1),
  boot_id TEXT NOT NULL, boottime_us INTEGER NOT NULL, wall_us INTEGER NOT NULL,
  at_us INTEGER NOT NULL, unix_us_at_zero INTEGER NOT NULL, last_seq INTEGER NOT NULL);
CREATE TABLE decisions(id INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, body TEXT NOT NULL);
CREATE TABLE decision_jobs(job INTEGER NOT NULL, decision INTEGER NOT NULL, PRIMARY KEY(job, decision)) WITHOUT ROWID;
CREATE TABLE events(
  seq INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, type TEXT NOT NULL,
  job INTEGER, node INTEGER, tenant TEXT NOT NULL, decision INTEGER, data TEXT NOT NULL);
CREATE INDEX events_by_job ON events(job, seq) WHERE job IS NOT NULL;
CREATE TABLE job_metrics(
  job INTEGER NOT NULL, ordinal INTEGER NOT NULL, at_us INTEGER NOT NULL, step INTEGER NOT NULL,
  size INTEGER NOT NULL, generation INTEGER NOT NULL, samples_per_second REAL NOT NULL, step_ms REAL NOT NULL,
  loss REAL NOT NULL, compute_ms TEXT NOT NULL, global_batch INTEGER NOT NULL, noise_scale REAL,
  PRIMARY KEY(job, ordinal)) WITHOUT ROWID;
CREATE TABLE tokens(
  id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, tenant TEXT NOT NULL, secret_sha256 TEXT NOT NULL,
  created_at TEXT NOT NULL, expires_unix_s INTEGER, revoked INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE idempotency(
  token TEXT NOT NULL, key TEXT NOT NULL, request_hash TEXT NOT NULL, job INTEGER, created_token TEXT NOT NULL,
  unix_s INTEGER NOT NULL, PRIMARY KEY(token, key)) WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency(unix_s);
CREATE TABLE placements(worker INTEGER PRIMARY KEY, job INTEGER NOT NULL, node INTEGER NOT NULL);
CREATE INDEX placements_by_job ON placements(job, worker);
CREATE TABLE policy_versions(
  name TEXT NOT NULL, version TEXT NOT NULL, ordinal INTEGER NOT NULL, created_at TEXT NOT NULL,
  created_by TEXT NOT NULL, manifest TEXT NOT NULL, source TEXT NOT NULL, tests TEXT NOT NULL, checks TEXT,
  PRIMARY KEY(name, version)) WITHOUT ROWID;
CREATE TABLE shadow_report(id INTEGER PRIMARY KEY CHECK(id = 1), body TEXT NOT NULL);
)sql";

}  // namespace tidepool::live
