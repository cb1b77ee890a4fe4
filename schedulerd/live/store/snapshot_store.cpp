#include "schedulerd/live/store/snapshot_store.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/digest.hpp"

namespace tidepool::live {
namespace {

std::int64_t stored(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}

std::uint64_t digest_of_row(core::RowKey key, std::string_view body) {
  return Digest().mix("snapshot row").mix(static_cast<std::uint64_t>(key.kind)).mix(key.id).mix(body).value();
}

struct Sum {
  std::uint64_t rows = 0;
  std::uint64_t digests = 0;  // added up, so that rows may come in any order

  void add(std::uint64_t digest) {
    ++rows;
    digests += digest;
  }
  void take_out(std::uint64_t digest) {
    --rows;
    digests -= digest;
  }
};

std::uint64_t digest_of_head(std::uint64_t seq, std::uint64_t rows, std::uint64_t sum, std::string_view head) {
  return Digest().mix("snapshot").mix(seq).mix(rows).mix(sum).mix(head).value();
}

}  // namespace

Result<std::vector<SnapshotHead>> snapshot_heads(Database& database) {
  std::vector<SnapshotHead> heads;
  auto query = database.prepare("SELECT seq,at_us FROM snapshots ORDER BY seq DESC");
  if (!query.ok()) return query.error();
  TP_TRY(query->each([&](const Row& row) {
    heads.push_back({static_cast<std::uint64_t>(row.integer(0)), Instant::from_micros(row.integer(1))});
  }));
  return heads;
}

Result<std::optional<core::ClusterState>> read_snapshot(Database& database, std::uint64_t seq) {
  std::string head;
  Sum promised;
  bool intact = false;
  auto ask_head = database.prepare("SELECT rows,sum,head,digest FROM snapshots WHERE seq=?1");
  if (!ask_head.ok()) return ask_head.error();
  TP_TRY(ask_head->each(
      [&](const Row& row) {
        promised = {static_cast<std::uint64_t>(row.integer(0)), static_cast<std::uint64_t>(row.integer(1))};
        head = row.text(2);
        intact = stored(digest_of_head(seq, promised.rows, promised.digests, head)) == row.integer(3);
      },
      seq));
  if (!intact) return std::optional<core::ClusterState>();
  auto rows = database.prepare(
      "SELECT kind,id,body,digest FROM snapshot_rows r WHERE seq=(SELECT max(seq) FROM snapshot_rows "
      "WHERE kind=r.kind AND id=r.id AND seq<=?1) AND body<>'' ORDER BY kind,id");
  if (!rows.ok()) return rows.error();
  core::StateFromRows state;
  Sum found;
  Status outcome = ok_status();
  TP_TRY(rows->each(
      [&](const Row& row) {
        const core::RowKey key{static_cast<core::RowKind>(row.integer(0)), static_cast<std::uint64_t>(row.integer(1))};
        const std::string body = row.text(2);
        const std::uint64_t digest = digest_of_row(key, body);
        intact = intact && stored(digest) == row.integer(3);
        found.add(digest);
        if (intact && outcome.ok()) outcome = state.put(key, body);
      },
      seq));
  if (!intact || found.rows != promised.rows || found.digests != promised.digests) {
    return std::optional<core::ClusterState>();
  }
  auto whole = outcome.ok() ? std::move(state).finish(head) : Result<core::ClusterState>(outcome.error());
  if (whole.ok()) return std::optional(*std::move(whole));
  return conflict("snapshot " + std::to_string(seq) + " cannot be read (" + whole.error().message +
                  "); start the version that wrote it");
}

Status SnapshotStore::prepare(Database& database) {
  const std::pair<Statement*, const char*> texts[] = {
      {&add_row_, "INSERT INTO snapshot_rows VALUES(?1,?2,?3,?4,?5)"},
      {&newest_version_,
       "SELECT digest,body<>'' FROM snapshot_rows WHERE kind=?1 AND id=?2 AND seq<?3 ORDER BY seq DESC LIMIT 1"},
      // Versions that no kept snapshot sees: the next one came before any head.
      {&drop_hidden_,
       "DELETE FROM snapshot_rows AS r WHERE kind=?1 AND id=?2 AND seq<?3 AND NOT EXISTS("
       "SELECT 1 FROM snapshots s WHERE s.seq>=r.seq AND s.seq<(SELECT min(n.seq) FROM snapshot_rows n "
       "WHERE n.kind=?1 AND n.id=?2 AND n.seq>r.seq))"},
      {&add_head_, "INSERT INTO snapshots VALUES(?1,?2,?3,?4,?5,?6)"},
      {&drop_head_, "DELETE FROM snapshots WHERE seq=?1"},
      {&find_gone_,
       "SELECT kind,id,seq,rowid FROM snapshot_rows WHERE body='' AND (seq,rowid)>(?1,?2) AND seq<=?3 "
       "ORDER BY seq,rowid LIMIT ?4"},
      // Once nothing lies below it that it hides.
      {&drop_gone_,
       "DELETE FROM snapshot_rows WHERE kind=?1 AND id=?2 AND seq=?3 AND body='' AND NOT EXISTS("
       "SELECT 1 FROM snapshot_rows r WHERE r.kind=?1 AND r.id=?2 AND r.seq<?3)"},
      {&drop_newer_rows_, "DELETE FROM snapshot_rows WHERE seq>?1"},
      {&drop_newer_heads_, "DELETE FROM snapshots WHERE seq>?1"},
      {&sum_of_head_, "SELECT rows,sum FROM snapshots WHERE seq=?1"},
  };
  TP_TRY(database.prepare_all(texts));
  auto heads = snapshot_heads(database);
  if (!heads.ok()) return heads.error();
  heads_ = *std::move(heads);
  return ok_status();
}

Status SnapshotStore::go_on_from(std::uint64_t seq, const core::ClusterState& state) {
  TP_CHECK(!taken_, "no snapshot is under way when the journal is taken up");
  std::erase_if(heads_, [&](const SnapshotHead& head) { return head.seq > seq; });
  TP_TRY(drop_newer_heads_.run(seq));
  TP_TRY(drop_newer_rows_.run(seq));
  live_ = sum_ = 0;
  TP_TRY(sum_of_head_.each(
      [&](const Row& row) {
        live_ = static_cast<std::uint64_t>(row.integer(0));
        sum_ = static_cast<std::uint64_t>(row.integer(1));
      },
      seq));
  looked_at_ = 0;
  base_ = state;
  return ok_status();
}

void SnapshotStore::begin(std::uint64_t seq, const core::ClusterState& state) {
  TP_CHECK(!taken_, "one snapshot is under way at a time");
  taken_ = Taken{.seq = seq, .state = state, .rows = core::rows_between(base_, state)};
}

Status SnapshotStore::write(std::size_t rows) {
  TP_CHECK(taken_, "a snapshot is under way");
  for (; rows > 0 && taken_->next < taken_->rows.size(); --rows) TP_TRY(write_row(taken_->rows[taken_->next++]));
  return taken_->next < taken_->rows.size() ? ok_status() : finish();
}

Status SnapshotStore::write_row(core::RowKey key) {
  const auto kind = static_cast<std::int64_t>(key.kind);
  const std::string body = core::row_text(taken_->state, key);
  const std::uint64_t digest = digest_of_row(key, body);
  std::optional<std::uint64_t> before;
  bool was_there = false;
  TP_TRY(newest_version_.each(
      [&](const Row& row) {
        before = static_cast<std::uint64_t>(row.integer(0));
        was_there = row.integer(1) != 0;
      },
      kind, key.id, taken_->seq));
  if (before ? *before == digest : body.empty()) return ok_status();
  Sum sum{live_, sum_};
  if (was_there) sum.take_out(*before);
  if (!body.empty()) sum.add(digest);
  live_ = sum.rows;
  sum_ = sum.digests;
  TP_TRY(add_row_.run(kind, key.id, taken_->seq, digest, body));
  return before ? drop_hidden_.run(kind, key.id, taken_->seq) : ok_status();
}

Status SnapshotStore::finish() {
  const std::string head = core::head_text(taken_->state);
  TP_TRY(add_head_.run(taken_->seq, taken_->state.now.count_us(), live_, sum_, head,
                       digest_of_head(taken_->seq, live_, sum_, head)));
  heads_.insert(heads_.begin(), {taken_->seq, taken_->state.now});
  looked_at_ = taken_->rows.size();
  base_ = std::move(taken_->state);
  taken_.reset();
  return ok_status();
}

Status SnapshotStore::drop_heads(Instant keep_since, Duration apart) {
  constexpr std::size_t kNewest = 2;
  std::vector<SnapshotHead> kept;  // the oldest first
  for (std::size_t i = heads_.size(); i-- > 0;) {
    const SnapshotHead& head = heads_[i];
    // The oldest one is what replays of the time since begin with; it goes when the next one serves as well.
    const bool superseded = i > 0 && heads_[i - 1].at <= keep_since;
    const bool crowded = !kept.empty() && head.at < kept.back().at + apart;
    if (i < kNewest || (!superseded && !crowded)) {
      kept.push_back(head);
    } else {
      TP_TRY(drop_head_.run(head.seq));
      if (i > kNewest) gone_until_ = {};  // it may have been the last to see what is gone
    }
  }
  heads_.assign(kept.rbegin(), kept.rend());
  return ok_status();
}

Result<bool> SnapshotStore::drop_gone(int rows) {
  struct Gone {
    std::int64_t kind, id, seq, row;
  };
  std::vector<Gone> gone;
  if (heads_.size() < 2) return false;
  TP_TRY(find_gone_.each(
      [&](const Row& row) { gone.push_back({row.integer(0), row.integer(1), row.integer(2), row.integer(3)}); },
      gone_until_.seq, gone_until_.row, heads_[1].seq, rows));
  for (const Gone& row : gone) {
    TP_TRY(drop_hidden_.run(row.kind, row.id, row.seq));
    TP_TRY(drop_gone_.run(row.kind, row.id, row.seq));
    gone_until_ = {row.seq, row.row};
  }
  return static_cast<int>(gone.size()) == rows;
}

}  // namespace tidepool::live
