// The tables of the state database. A change here is a new schema version, and so is a change of the bodies of facts,
// decisions and snapshots (core/codec/codec.hpp). Version 8 has snapshots in rows, ended jobs in a table, and decisions
// in the journal alone; version 9 stores what lists show of ended jobs; version 10 has specifications without the text
// of the job file; version 11 has measurements without a loss; version 12 has the user whose command caused an event.
// Versions 7 to 11 are upgraded when they are opened (journal_upgrade.hpp); their specifications are read unchanged
// (core/codec/spec_codec.cpp). Earlier versions were never released and are not read.
#pragma once

namespace tidepool::live {

inline constexpr int kSchemaVersion = 12;

// The difference from version 7 to version 8.
inline constexpr const char* kSchemaOf8 = R"sql(
CREATE TABLE snapshots(
  seq INTEGER PRIMARY KEY,       -- newest row of the journal in it
  at_us INTEGER NOT NULL,        -- of the state
  rows INTEGER NOT NULL,         -- how many it sees, and the sum of their digests
  sum INTEGER NOT NULL,
  head TEXT NOT NULL,
  digest INTEGER NOT NULL);      -- of all but at_us
CREATE TABLE snapshot_rows(
  kind INTEGER NOT NULL, id INTEGER NOT NULL,
  seq INTEGER NOT NULL,          -- of the snapshot that it was written for
  digest INTEGER NOT NULL, body TEXT NOT NULL);  -- empty = gone
CREATE UNIQUE INDEX snapshot_rows_by_key ON snapshot_rows(kind, id, seq);
CREATE INDEX snapshot_rows_gone ON snapshot_rows(seq) WHERE body='';
CREATE TABLE ended_jobs(          -- that have left the state
  id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL,
  submitted_us INTEGER NOT NULL, finished_us INTEGER NOT NULL, job TEXT NOT NULL);
CREATE INDEX ended_jobs_by_state ON ended_jobs(state, id, tenant);
CREATE INDEX ended_jobs_by_end ON ended_jobs(finished_us);
CREATE TABLE decisions(
  id INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, policy TEXT NOT NULL,
  seq INTEGER NOT NULL,          -- of the journal's row that holds it
  body TEXT);                    -- only of one that version 7 stored
CREATE INDEX decision_jobs_by_decision ON decision_jobs(decision);
)sql";

// The difference from version 8 to version 9. `listed` is empty for jobs that version 8 stored: those are read whole.
inline constexpr const char* kSchemaOf9 = R"sql(
ALTER TABLE ended_jobs ADD COLUMN listed TEXT NOT NULL DEFAULT '';
CREATE INDEX ended_jobs_by_name ON ended_jobs(name, id);
)sql";

// Since version 11 a measurement may have no loss: that of a training that diverged is not a number.
inline constexpr const char* kMetricsTable = R"sql(
CREATE TABLE job_metrics(
  job INTEGER NOT NULL, ordinal INTEGER NOT NULL, at_us INTEGER NOT NULL, step INTEGER NOT NULL,
  size INTEGER NOT NULL, generation INTEGER NOT NULL, samples_per_second REAL NOT NULL, step_ms REAL NOT NULL,
  loss REAL, compute_ms TEXT NOT NULL, global_batch INTEGER NOT NULL, noise_scale REAL,
  PRIMARY KEY(job, ordinal)) WITHOUT ROWID;
)sql";

// The difference from version 11 to version 12. Empty for events that no user's command caused, and for earlier ones.
inline constexpr const char* kSchemaOf12 = R"sql(
ALTER TABLE events ADD COLUMN actor TEXT NOT NULL DEFAULT '';
)sql";

// The indexes of lists (ended_lists.hpp, history.hpp). Missing ones are created whenever a database is opened: they
// have no data of their own, so they need no version.
inline constexpr const char* kIndexesOfLists = R"sql(
CREATE INDEX IF NOT EXISTS events_by_type ON events(type, seq);
CREATE INDEX IF NOT EXISTS events_by_node ON events(node, seq) WHERE node IS NOT NULL;
CREATE INDEX IF NOT EXISTS ended_jobs_by_tenant ON ended_jobs(tenant, state, id);
CREATE INDEX IF NOT EXISTS ended_jobs_by_name_and_tenant ON ended_jobs(name, tenant, state, id);
)sql";

inline constexpr const char* kSchema = R"sql(
CREATE TABLE journal(
  seq INTEGER PRIMARY KEY,       -- without gaps
  at_us INTEGER NOT NULL,        -- on the daemon's time line
  kind TEXT NOT NULL,            -- fact | decision
  body TEXT NOT NULL,
  digest INTEGER NOT NULL);      -- of the four above
CREATE TABLE clock(
  id INTEGER PRIMARY KEY CHECK(id = 1),
  boot_id TEXT NOT NULL, boottime_us INTEGER NOT NULL, wall_us INTEGER NOT NULL,
  at_us INTEGER NOT NULL, unix_us_at_zero INTEGER NOT NULL, last_seq INTEGER NOT NULL);
CREATE TABLE decision_jobs(job INTEGER NOT NULL, decision INTEGER NOT NULL, PRIMARY KEY(job, decision)) WITHOUT ROWID;
CREATE TABLE events(
  seq INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, type TEXT NOT NULL,
  job INTEGER, node INTEGER, tenant TEXT NOT NULL, decision INTEGER, data TEXT NOT NULL);
CREATE INDEX events_by_job ON events(job, seq) WHERE job IS NOT NULL;
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
