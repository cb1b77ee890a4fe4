// A real loop, engine and journal on a temporary disk, with a clock that the test moves and a node of which only the
// processes are modelled. A kill is what it is for the daemon: nothing but the files is left.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/engine.hpp"
#include "schedulerd/live/journal_reads.hpp"
#include "schedulerd/live/loop.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/support/modelled_node.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tidepool::test {

class LoopWorld {
 public:
  explicit LoopWorld(live::JournalOptions options = {}) : options_(std::move(options)), node(clock) {}

  // Opens the journal in `folder` and recovers. False with `failure` set on error.
  bool boot(const std::string& folder);
  // As kill -9: the files are copied as they are, and the next boot sees only the copy.
  void kill();
  // An orderly end: the journal is closed first, which folds its log into the file.
  void stop();
  // One turn after the given items, or after the first that comes within `patience`, written and told; false if the
  // journal failed.
  bool turn(std::vector<live::InboxItem> items, std::chrono::microseconds patience = {});
  // A turn that may still be being written, and the end of all of those, after which the node has heard; likewise.
  bool turn_ahead(std::vector<live::InboxItem> items, std::chrono::microseconds patience = {});
  bool settle();

  [[nodiscard]] std::uint64_t digest() const;
  [[nodiscard]] const core::ClusterState& state() const { return loop_->state(); }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  // Copies the journal's files from `folder()` to a fresh folder inside `dir`.
  [[nodiscard]] std::string copy_files(const std::string& name) const;

  std::string failure;
  std::optional<live::PolicyAsker::Setup> policy_files;  // none: no policy file is ever asked; set before boot()
  std::string detector;  // that the daemon is configured with; likewise; empty: the usual one, and no fact says so
  live::Loop::OnTurn on_turn;  // likewise; empty: not asked for
  ManualClock clock;
  TemporaryFolder dir;
  live::Publisher publisher;

 private:
  live::JournalOptions options_;

 public:
  ModelledNode node;

 private:
  std::string folder_;
  int kills_ = 0;
  std::unique_ptr<live::Journal> journal_;
  std::unique_ptr<live::JournalReads> reads_;
  std::unique_ptr<live::DaemonClock> daemon_clock_;
  std::unique_ptr<live::Inbox> inbox_;
  std::unique_ptr<live::PolicyAsker> asker_;
  std::unique_ptr<live::Loop> loop_;
};

[[nodiscard]] core::Engine::Parts engine_parts();
[[nodiscard]] core::JobSpec elastic_job(const std::string& name);
[[nodiscard]] live::CommandItem submit(const std::string& name, const std::string& key,
                                       std::function<void(Result<live::Receipt>)> done);

}  // namespace tidepool::test
