#include "tests/support/live_daemon.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "base/overloaded.hpp"
#include "core/codec/codec.hpp"

namespace tidepool::test {
namespace {

constexpr std::size_t kRefusedKept = 100;
constexpr int kDecisionsPerTurn = 64;

template <class Message>
Message over_the_wire(const Message& message);

template <>
api::AgentToDaemon over_the_wire(const api::AgentToDaemon& message) {
  auto arrived = api::decode_agent_to_daemon(api::encode(message));
  TP_CHECK(arrived.ok(), "what an agent says can be read");
  return *std::move(arrived);
}

template <>
api::DaemonToAgent over_the_wire(const api::DaemonToAgent& message) {
  auto arrived = api::decode_daemon_to_agent(api::encode(message));
  TP_CHECK(arrived.ok(), "what the daemon says can be read");
  return *std::move(arrived);
}

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
  const std::string policy(ground_.parts().policies.at("default")->name());
  loop_ = std::make_unique<live::Loop>(*std::move(recovered), policy,
                                       live::Loop::Links{*journal_, *daemon_clock_, *inbox_, post_, publisher_});
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
    items.push_back(item_of(incoming));
  }
  if (options_.turns_batches_round) std::reverse(items.begin(), items.end());
  for (auto& item : items) TP_CHECK(inbox_->try_push(std::move(item)).ok(), "the inbox has room");
  TP_CHECK(loop_->turn(std::chrono::microseconds(0)).ok(), "the disk holds");
  tell_decisions();
  std::vector<sim::Outgoing> out = std::exchange(answers_, {});
  for (const auto& item : std::exchange(post_.items, {})) pass_on(item, out);
  return out;
}

// --- what comes in ------------------------------------------------------------------------------

NodeId LiveDaemon::node_id(int node) const {
  for (const auto& [id, known] : loop_->state().nodes) {
    if (known.name == sim::node_name(node)) return id;
  }
  return {};
}

int LiveDaemon::node_of(NodeId node) const {
  return sim::node_of_name(loop_->state().find_node(node)->name);
}

live::InboxItem LiveDaemon::command(live::CommandBody body, std::string key) {
  live::Command command{.body = std::move(body), .actor = "t", .idempotency = {}};
  if (!key.empty()) command.idempotency = {.key = key, .token_id = "t", .request_hash = key};
  return live::CommandItem{std::move(command), [this, key](const Result<live::Receipt>& receipt) {
                             if (!receipt.ok()) {
                               refused_.push_back(receipt.error().message);
                             } else if (!key.empty()) {
                               answers_.emplace_back(sim::Submitted{key, *receipt->job});
                             }
                           }};
}

live::InboxItem LiveDaemon::item_of(const sim::Incoming& incoming) {
  using Item = live::InboxItem;
  return std::visit(
      Overloaded{
          [&](const sim::Submit& submit) -> Item { return command(live::SubmitJob{submit.spec}, submit.key); },
          [&](const sim::FromNode& from) -> Item { return message_of(from); },
          [&](const sim::AgentSilent& silent) -> Item {
            return live::AgentLostItem{sim::node_name(silent.node), "no sign of life"};
          },
          [&](const sim::CordonNode& cordon) -> Item {
            return command(live::CordonNode{node_id(cordon.node), cordon.cordoned}, "");
          },
          [&](const sim::UserWish& wish) -> Item {
            return std::visit(
                Overloaded{
                    [&](const core::JobResizeRequested& f) { return command(live::ResizeJob{f.job, f.size}, ""); },
                    [&](const core::JobSuspendRequested& f) { return command(live::SuspendJob{f.job}, ""); },
                    [&](const core::JobResumeRequested& f) { return command(live::ResumeJob{f.job}, ""); },
                    [&](const core::JobCancelRequested& f) { return command(live::CancelJob{f.job}, ""); },
                },
                wish);
          },
      },
      incoming);
}

live::InboxItem LiveDaemon::message_of(const sim::FromNode& from) const {
  const NodeId node = node_id(from.node);
  return std::visit(Overloaded{
                        [&](api::AgentHello hello) -> live::InboxItem {
                          hello.token = "t";
                          return live::AgentHelloItem{.session = static_cast<live::SessionNumber>(from.node) + 1,
                                                      .hello = std::move(hello)};
                        },
                        [&](api::WorkerExitedReport report) -> live::InboxItem {
                          return live::WorkerExitedItem{node, std::move(report)};
                        },
                        [&](api::WorkerStuckReport report) -> live::InboxItem {
                          return live::WorkerStuckItem{node, std::move(report)};
                        },
                        [&](api::FromWorkerReport report) -> live::InboxItem {
                          return live::FromWorkerItem{node, std::move(report)};
                        },
                        [](const auto&) -> live::InboxItem {
                          TP_CHECK(false, "a simulated node says no such thing");
                          return live::AgentLostItem{};
                        },
                    },
                    over_the_wire(from.message));
}

// --- what goes out ------------------------------------------------------------------------------

void LiveDaemon::pass_on(const live::OutboxItem& item, std::vector<sim::Outgoing>& out) {
  const auto send = [&](NodeId node, const api::DaemonToAgent& order) {
    out.emplace_back(sim::ToNode{node_of(node), over_the_wire(order)});
  };
  std::visit(Overloaded{
                 [&](const live::Admission& admission) {
                   // Of the gateway, which is not here.
                   out.emplace_back(sim::ToNode{node_of(admission.node), sim::welcome(admission.node)});
                   for (const auto& order : admission.orders) send(admission.node, order);
                 },
                 [&](const live::AgentRefusal& refusal) { refused_.push_back(refusal.why); },
                 [&](const live::NodeOrder& order) { send(order.node, order.message); },
             },
             item);
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
