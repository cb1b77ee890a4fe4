#include "core/explain/waiting_together.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/explain/current_reason.hpp"
#include "core/state/reason_read.hpp"
#include "core/words/sentence.hpp"

namespace tidepool::core {
namespace {

// The place in line differs for each job.
std::string without_place(Reason reason) {
  visit_reason(
      []<class R>(R& why) {
        if constexpr (requires { why.ahead = 0; }) why.ahead = 0;
      },
      reason);
  return sentence(reason);
}

// What a waiting reason may depend on in addition to the engine's verdict.
bool asks_for_the_same(const JobSpec& one, const JobSpec& other) {
  const auto asked = [](const JobSpec& spec) {
    return std::tie(spec.gpus_per_worker, spec.elastic.sizes, spec.elastic.group, spec.slot_types, spec.mixed_types,
                    spec.memory, spec.placement, spec.scaling.price_cap, spec.tenant);
  };
  return asked(one) == asked(other);
}

// Jobs with the same verdict and the same requests, with the row that has their reason.
struct Alike {
  const Job* first;
  std::size_t row;
};

}  // namespace

std::vector<WaitingTogether> waiting_together(const ClusterState& state, const std::vector<JobId>& jobs) {
  std::vector<WaitingTogether> rows;
  std::map<std::string, std::size_t> row_of;           // by the text of the reason
  std::map<std::string, std::vector<Alike>> alike_of;  // by verdict
  for (const JobId id : jobs) {
    const Job* job = state.find_job(id);
    if (job == nullptr || job->state() != JobState::kPending || !job->verdict.job) continue;
    std::vector<Alike>& known = alike_of[without_place(job->verdict.reason)];
    auto alike = std::find_if(known.begin(), known.end(),
                              [&](const Alike& each) { return asks_for_the_same(each.first->spec, job->spec); });
    if (alike == known.end()) {
      Reason told = current_reason(state, *job);
      const auto [row, is_new] = row_of.emplace(without_place(told), rows.size());
      if (is_new) rows.push_back({std::move(told), {}});
      alike = known.insert(known.end(), {job, row->second});
    }
    rows[alike->row].jobs.push_back(id);
  }
  return rows;
}

}  // namespace tidepool::core
