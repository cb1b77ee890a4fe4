// Saved states in the fleet: on which machines they lie, and how they are fetched from one to another. Rule: one
// transfer for a job at a time, and a start never goes on from an older state than one that was brought for it.
#include <algorithm>

#include "sim/fleet.hpp"

namespace tidepool::sim {
namespace {

constexpr Duration kBytesPeriod = Duration::millis(500);  // between two words of a transfer

}  // namespace

void Fleet::keep_state(const TrainingRun& run, WorkerId writer) {
  if (setup_.state_rate > 0) at(where_.at(writer)).states[run.job].insert(run.step);
}

std::int64_t Fleet::newest_state_at(JobId job, const std::vector<WorkerId>& members) const {
  std::int64_t newest = 0;
  for (const WorkerId member : members) {
    const auto& states = at(where_.at(member)).states;
    const auto found = states.find(job);
    if (found != states.end() && !found->second.empty()) newest = std::max(newest, *found->second.rbegin());
  }
  return newest;
}

// The first generation of these processes: what is not on its machines is done again. A program that goes by
// measurements (sim/program.hpp) does not go back.
void Fleet::restore(TrainingRun& run, const api::GenerationMessage& commit) {
  if (setup_.state_rate <= 0 || run.truth.restarts || run.program != nullptr) return;
  const bool known =
      std::any_of(commit.members.begin(), commit.members.end(), [&](WorkerId id) { return find(id)->member_of != 0; });
  if (known) return;
  const std::int64_t newest = newest_state_at(run.job, commit.members);
  const auto brought = brought_.find(run.job);
  if (brought != brought_.end()) {
    const auto [step, node] = brought->second;
    const bool there =
        std::any_of(commit.members.begin(), commit.members.end(), [&](WorkerId id) { return where_.at(id) == node; });
    if (there && newest < step) {
      violations_.push_back(run.job.text() + " starts from step " + std::to_string(newest) +
                            " though the state of step " + std::to_string(step) + " was brought for it");
    }
    brought_.erase(brought);
  }
  run.furthest = std::max(run.furthest, run.step);
  run.step = std::min(run.step, newest);
  run.reported = std::min(run.reported, run.step);
}

void Fleet::ask_for_state(int node, JobId job, std::int64_t step, Instant now) {
  if (at(node).states[job].contains(step)) return feed(node, agent::StateIsHere{job, step, kStateBytes}, now);
  setup_.to_daemon(node, FromNode{node, api::StateWantedReport{.job = job, .step = step, .key = at(node).name}});
}

void Fleet::offer_state(int node, const api::OfferState& order) {
  if (!at(node).states[order.job].contains(order.step)) {
    setup_.to_daemon(
        node, FromNode{node, api::StateRefusedReport{.request = order.request, .why = "no such state lies here"}});
    return;
  }
  const std::string ticket = "ticket-" + std::to_string(next_transfer_++);
  tickets_[ticket] = {.job = order.job, .step = order.step, .from = node};
  setup_.to_daemon(node, FromNode{node, api::StateOfferedReport{.request = order.request,
                                                                .ticket = ticket,
                                                                .host = at(node).name,
                                                                .port = node + 1,
                                                                .key = at(node).name}});
}

void Fleet::fetch_state(int node, const api::FetchState& from, Instant now) {
  const auto ticket = tickets_.find(from.ticket);
  if (ticket == tickets_.end()) return feed(node, agent::StateFetchBroke{from.job, "the ticket has been used"}, now);
  const Ticket granted = ticket->second;
  tickets_.erase(ticket);
  const auto other = transfers_.find(from.job);
  const bool lives = other != transfers_.end() && at(other->second.from).reachable && at(other->second.to).reachable;
  if (lives && other->second.to != node) violations_.push_back("two transfers for " + from.job.text() + " at once");
  auto& [step, bytes] = at(node).incoming[from.job];
  if (step != granted.step) bytes = 0;
  step = granted.step;
  const std::uint64_t number = next_transfer_++;
  transfers_[from.job] = {.number = number, .step = granted.step, .from = granted.from, .to = node, .since = now};
  setup_.later(now + kBytesPeriod, StateComes{from.job, number});
}

void Fleet::on(const StateComes& event, Instant now) {
  const auto found = transfers_.find(event.job);
  if (found == transfers_.end() || found->second.number != event.transfer) return;
  Transfer& transfer = found->second;
  const int to = transfer.to;
  if (!at(transfer.from).reachable || !at(to).reachable || at(transfer.from).gone) {
    transfers_.erase(found);
    return feed(to, agent::StateFetchBroke{event.job, "the transfer broke"}, now);
  }
  std::int64_t& bytes = at(to).incoming[event.job].second;
  bytes += static_cast<std::int64_t>((now - transfer.since).to_seconds() * static_cast<double>(setup_.state_rate));
  transfer.since = now;
  if (bytes < kStateBytes) {
    feed(to, agent::StateBytesCame{event.job}, now);
    return setup_.later(now + kBytesPeriod, event);
  }
  const std::int64_t step = transfer.step;
  transfers_.erase(found);
  at(to).incoming.erase(event.job);
  at(to).states[event.job].insert(step);
  feed(to, agent::StateIsHere{event.job, step, kStateBytes}, now);
}

void Fleet::abandon_fetch(int node, JobId job) {
  const auto found = transfers_.find(job);
  if (found != transfers_.end() && found->second.to == node) transfers_.erase(found);
  at(node).incoming.erase(job);
}

}  // namespace tidepool::sim
