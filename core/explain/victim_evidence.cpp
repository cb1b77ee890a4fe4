#include "core/explain/victim_evidence.hpp"

#include "core/state/account.hpp"
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

}  // namespace

std::vector<std::string> victim_evidence(const ClusterState& state, const Job& job) {
  if (job.state() != JobState::kPending) return {};
  std::vector<std::string> names;
  int slots = 0;
  for (const auto& [id, other] : state.jobs) {
    const auto* why = reason_as<reason::Preempted>(other->verdict.reason);
    if (why == nullptr || why->for_job != job.id) continue;
    const int held = slots_in_use(state, *other);
    if (held == 0) continue;
    slots += held;
    names.push_back(id.text());
  }
  if (names.empty()) return {};
  return {list_of(names) + (names.size() == 1 ? " gives up " : " give up ") + counted(slots, "slot") + " for it"};
}

}  // namespace tidepool::core
