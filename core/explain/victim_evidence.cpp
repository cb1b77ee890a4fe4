#include "core/explain/victim_evidence.hpp"

#include <algorithm>

#include "core/state/account.hpp"
#include "core/state/node_constraints.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/wording.hpp"

namespace tidepool::core {
namespace {

constexpr std::size_t kNamesMost = 3;

// "job-1", "job-1, job-2 and job-3", "7 jobs".
std::string list_of(const std::vector<std::string>& names) {
  if (names.size() > kNamesMost) return counted(static_cast<double>(names.size()), "job");
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

// Of the victim's workers that have not ended.
void count_leaving(const ClusterState& state, const Job& victim, const Job& job, GivenUp& given) {
  for (const WorkerId id : victim.membership.workers) {
    const Worker& worker = *state.find_worker(id);
    if (worker.is_gone()) continue;
    const Node& node = *state.find_node(worker.node);
    if (node.takes_workers() && may_run_on(job, node)) given.slots += static_cast<int>(worker.slots.size());
    if (worker.notice) given.by = given.by ? std::max(*given.by, worker.notice->by) : worker.notice->by;
  }
}

}  // namespace

std::optional<GivenUp> given_up_for(const ClusterState& state, const Job& job) {
  if (job.state() != JobState::kPending) return std::nullopt;
  GivenUp given;
  std::vector<std::string> names;
  int slots = 0;
  for (const auto& [id, other] : state.jobs) {
    const auto* why = reason_as<reason::Preempted>(other->verdict.reason);
    if (why == nullptr || why->for_job != job.id) continue;
    const int held = slots_in_use(state, *other);
    if (held == 0) continue;
    slots += held;
    names.push_back(id.text());
    count_leaving(state, *other, job, given);
  }
  if (names.empty()) return std::nullopt;
  given.words = list_of(names) + (names.size() == 1 ? " gives up " : " give up ") + counted(slots, "slot") + " for it";
  return given;
}

std::vector<std::string> victim_evidence(const ClusterState& state, const Job& job) {
  const auto given = given_up_for(state, job);
  return given ? std::vector{given->words} : std::vector<std::string>();
}

}  // namespace tidepool::core
