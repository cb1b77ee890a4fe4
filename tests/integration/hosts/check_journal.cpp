// `check_journal DATABASE` replays a daemon's journal from its first row: each decision must be lawful where it was
// made, and the books must be right after every row. What it ends with must be what the daemon recovers to. Prints the
// number of rows; exit code 1 and a sentence otherwise.
#include <cstdio>
#include <string>

#include "core/codec/codec.hpp"
#include "core/facts/detector_of.hpp"
#include "core/state/cluster_invariants.hpp"
#include "policies/registry.hpp"
#include "schedulerd/live/store/recovery.hpp"
#include "straggler/registry.hpp"

namespace {

using namespace tidepool;

Status check_row(core::Engine& engine, const live::JournalRow& row) {
  TP_TRY(live::apply_row(engine, row));
  if (const auto broken = core::broken_invariant(engine.view())) {
    return invalid_argument("after row " + std::to_string(row.seq) + ": " + *broken);
  }
  return ok_status();
}

Status check(const std::string& path) {
  auto journal = live::Journal::open(path, {});
  if (!journal.ok()) return journal.error();
  const auto detectors = core::detectors_of(straggler::kDetectors);
  const core::Engine::Parts parts{policies::make_policies("tidal").value(),
                                  {detectors.at(std::string(straggler::kDefaultDetector)), detectors}};
  core::Engine engine(parts);
  std::size_t rows = 0;
  TP_TRY(journal->replay(0, [&](const live::JournalRow& row) {
    ++rows;
    return check_row(engine, row);
  }));
  const auto recovered = live::recover(*journal, parts);
  if (!recovered.ok()) return recovered.error();
  if (core::digest_of(recovered->engine.view()) != core::digest_of(engine.view())) {
    return invalid_argument("the daemon recovers to another state than its rows lead to");
  }
  std::printf("%zu rows\n", rows);
  return ok_status();
}

}  // namespace

int main(int argc, char** argv) {
  const Status checked = argc == 2 ? check(argv[1]) : invalid_argument("usage: check_journal DATABASE");
  if (!checked.ok()) std::fprintf(stderr, "%s\n", checked.error().message.c_str());
  return checked.ok() ? 0 : 1;
}
