#include "schedulerd/live/store/recovery.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "core/codec/row_texts.hpp"

namespace tidepool::live {
namespace {

struct Footing {
  core::Engine engine;
  std::uint64_t seq = 0;
};

Result<Footing> footing_of(Journal& journal, const core::Engine::Parts& parts) {
  const auto heads = journal.snapshots();
  if (!heads.ok()) return heads.error();
  for (const auto& head : *heads) {
    auto state = journal.state_of(head.seq);
    if (!state.ok()) return state.error();
    if (!*state) {
      spdlog::warn("event=snapshot_damaged seq={} next=\"an older one and the rows after it\"", head.seq);
      continue;
    }
    TP_TRY(journal.go_on_from(head.seq, **state));
    return Footing{core::Engine(parts, **std::move(state)), head.seq};
  }
  TP_TRY(journal.go_on_from(0, {}));
  return Footing{core::Engine(parts), 0};
}

}  // namespace

Status apply_row(core::Engine& engine, const JournalRow& row) {
  if (row.is_decision) {
    auto decision = core::decision_from_text(row.body);
    if (!decision.ok()) return decision.error();
    TP_TRY(engine.validate(*decision));
    engine.accept(*decision);
    return ok_status();
  }
  auto fact = core::fact_from_text(row.body);
  if (!fact.ok()) return fact.error();
  const auto events = engine.step({row.at, *std::move(fact)});
  return events.ok() ? ok_status() : Status(events.error());
}

Result<Recovered> recover(Journal& journal, const core::Engine::Parts& parts) {
  auto start = footing_of(journal, parts);
  if (!start.ok()) return start.error();
  auto clock = journal.clock();
  if (!clock.ok()) return clock.error();

  std::uint64_t rows = 0;
  TP_TRY(journal.replay(start->seq, [&](const JournalRow& row) {
    ++rows;
    return apply_row(start->engine, row);
  }));
  TP_TRY(journal.complete_ended(start->engine.take_ended()));
  Recovered recovered{.engine = std::move(start->engine),
                      .clock = *std::move(clock),
                      .snapshot_seq = start->seq,
                      .rows_replayed = rows};
  if (recovered.engine.view().deployment.shadow) {
    auto report = journal.shadow_report();
    if (!report.ok()) return report.error();
    if (*report) recovered.shadow = std::make_shared<const ShadowReport>(**std::move(report));
  }
  // The line must not fall behind the state, whatever the clock row says.
  if (recovered.clock) recovered.clock->at = std::max(recovered.clock->at, recovered.engine.view().now);
  return recovered;
}

}  // namespace tidepool::live
