#include "tests/support/live_daemon.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "core/codec/codec.hpp"
#include "tests/support/loop_messages.hpp"

namespace tidepool::test {
namespace {

constexpr std::size_t kRefusedKept = 100;
constexpr int kDecisionsPerTurn = 64;

}  // namespace

void LiveDaemon::Post::post(std::vector<live::OutboxItem> more) {
  std::move(more.begin(), more.end(), std::back_inserter(items));
}

LiveDaemon::LiveDaemon(sim::DaemonParts ground, Options options)
    : ground_(std::move(ground)), options_(options), inbox_(std::make_unique<live::Inbox>(10'000)) {
  spdlog::set_level(spdlog::level::off);
  std::filesystem::create_directories(folder_ / "life-0");
  TP_CHECK(recover().ok(), "a new journal opens");
}

LiveDaemon::~LiveDaemon() = default;

// As after kill -9: only the files count, and what the dead daemon had open sees none of what follows.
Status LiveDaemon::recover() {
  const std::filesystem::path before = folder_ / ("life-" + std::to_string(lives_));
  const std::filesystem::path now = folder_ / ("life-" + std::to_string(lives_ + 1));
  std::filesystem::copy(before, now);
  ++lives_;
  loop_.reset();
  history_.reset();
  journal_.reset();
  auto journal = live::Journal::open(now / "journal.db", {.vfs = "", .snapshot_every = 100});
  if (!journal.ok()) return journal.error();
  auto recovered = live::recover(*journal, ground_.parts());
  if (!recovered.ok()) return recovered.error();
  journal_ = std::make_unique<live::Journal>(*std::move(journal));
  daemon_clock_ = std::make_unique<live::DaemonClock>(clock_, recovered->clock);
  auto history = live::SqliteHistory::open(now / "journal.db");
  if (!history.ok()) return history.error();
  history_ = *std::move(history);
  auto reads = live::JournalReads::open(now / "journal.db");
  if (!reads.ok()) return reads.error();
  reads_ = *std::move(reads);
  const std::string policy(ground_.parts().policies.at("default")->name());
  loop_ = std::make_unique<live::Loop>(
      *std::move(recovered), policy, live::Loop::Links{*journal_, *reads_, *daemon_clock_, *inbox_, post_, publisher_});
  return ok_status();
}

std::vector<sim::Outgoing> LiveDaemon::receive(const std::vector<sim::Incoming>& batch, Instant now) {
  clock_.pass(now - clock_at_);
  clock_at_ = now;
  ++turns_;
  if (options_.recover_every > 0 && turns_ % options_.recover_every == 0) {
    TP_CHECK(recover().ok(), "the journal leads back to the state");
  }
  std::vector<live::InboxItem> items;
  for (const sim::Incoming& incoming : batch) {
    items.push_back(inbox_item(incoming, ids_, answer_to(sim::key_of(incoming))));
  }
  if (options_.turns_batches_round) std::reverse(items.begin(), items.end());
  for (auto& item : items) TP_CHECK(inbox_->try_push(std::move(item)).ok(), "the inbox has room");
  TP_CHECK(loop_->turn(std::chrono::microseconds(0)).ok() && loop_->settle().ok(), "the disk holds");
  tell_decisions();
  for (const auto& item : post_.items) {
    if (const auto* refusal = std::get_if<live::AgentRefusal>(&item)) refused_.push_back(refusal->why);
  }
  std::vector<sim::Outgoing> out = std::exchange(answers_, {});
  std::ranges::move(messages_to_nodes(std::exchange(post_.items, {}), ids_), std::back_inserter(out));
  return out;
}

// --- what comes in and goes out -----------------------------------------------------------------

std::function<void(Result<live::Receipt>)> LiveDaemon::answer_to(std::string key) {
  return [this, key = std::move(key)](const Result<live::Receipt>& receipt) {
    if (!receipt.ok()) {
      refused_.push_back(receipt.error().message);
    } else if (!key.empty()) {
      answers_.emplace_back(sim::Submitted{key, *receipt->job});
    }
  };
}

void LiveDaemon::tell_decisions() {
  std::vector<live::StoredDecision> news = history_->decisions(std::nullopt, std::nullopt, kDecisionsPerTurn);
  std::erase_if(news, [&](const auto& stored) { return stored.id <= told_; });
  std::reverse(news.begin(), news.end());
  for (const live::StoredDecision& stored : news) {
    const auto decision = core::decision_from_json(stored.body);
    TP_CHECK(decision.ok() && stored.id.number() == told_.number() + 1, "the decision log has no gap");
    told_ = stored.id;
    ground_.on_decision(*decision);
  }
}

sim::Daemon::Books LiveDaemon::books() const {
  Books books;
  books.refused.assign(refused_.end() - static_cast<std::ptrdiff_t>(std::min(refused_.size(), kRefusedKept)),
                       refused_.end());
  return books;
}

}  // namespace tidepool::test
