#include "core/decide/start_job.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/decide/gather.hpp"
#include "core/decide/state_wait.hpp"
#include "core/place/together.hpp"
#include "core/state/job_state.hpp"
#include "core/state/largest_batch.hpp"
#include "core/state/measured/type_records.hpp"
#include "core/state/state_move.hpp"
#include "core/words/adjusted_reason.hpp"

namespace tidepool::core {
namespace {

// How many workers of the job there is room for on these types, of slots that are reserved for no other; 0 if it could
// not start.
int room_to_start(DecisionDraft& draft, const Job& job, const std::vector<std::string>& types) {
  const int each = job.spec.gpus_per_worker;
  const int smallest = job.spec.elastic.sizes.front();
  if (draft.usable() / each < smallest) return 0;
  const GangRequest gang{.job = &job, .slots_per_worker = each, .slot_types = types, .one_type = !job.spec.mixed_types};
  const int room = std::min(draft.free_slots().room_for(gang), draft.usable() / each);
  return room < smallest ? 0 : room;
}

void start(DecisionDraft& draft, const Job& job, const Target& target, std::vector<WorkerPlacement> gang) {
  const Reason reason =
      reason_of_start(target.reason, start_reason(draft.state(), job, gang), static_cast<int>(gang.size()));
  draft.conclude(job, StartIntent{job.id, std::move(gang)}, reason, &target);
}

// The largest size up to `most` at which all workers find room together, if that is as good; 0 = there is none.
int size_together(DecisionDraft& draft, const Job& job, GangRequest gang, int most) {
  if (is_arranged(job.spec)) return 0;
  for (int size = most; size > 0; size = job.spec.elastic.sizes.front() < size ? allowed_size(job, size - 1) : 0) {
    if (!is_as_good_together(size, most)) return 0;
    gang.workers = size;
    const int nodes_max = nodes_together(fewest_nodes(draft.free_slots(), job, size));
    if (lay_together(draft.free_slots(), {.gang = gang, .nodes_max = nodes_max})) return size;
  }
  return 0;
}

bool start_on(DecisionDraft& draft, const Job& job, const Target& target, const std::vector<std::string>& types) {
  const int smallest = job.spec.elastic.sizes.front();
  const int room = room_to_start(draft, job, types);
  if (room == 0) return false;
  const auto batch = static_cast<int>(std::min<std::int64_t>(largest_batch(job.spec.batch), target.size));
  GangRequest request{.job = &job,
                      .slots_per_worker = job.spec.gpus_per_worker,
                      .first_on = holder_of_state(draft.state(), job),
                      .slot_types = types};
  int size = allowed_size(job, std::min(batch, room));
  if (const int together = size_together(draft, job, request, size); together > 0) size = together;
  for (;; size = allowed_size(job, size - 1)) {
    request.workers = size;
    if (auto gang = draft.place_within_cap(job, request)) {
      start(draft, job, target, *std::move(gang));
      return true;
    }
    if (size == smallest) return false;
  }
}

// The types that the job asks for: that on which its workers together are expected to do most first, of equals the one
// that is named first.
std::vector<std::string> in_order_of_worth(DecisionDraft& draft, const Job& job, const Target& target) {
  const auto& asked = job.spec.slot_types;
  std::vector<std::pair<double, std::size_t>> worth;
  for (std::size_t place = 0; place < asked.size(); ++place) {
    const int size = std::min(room_to_start(draft, job, {asked[place]}), target.size);
    worth.emplace_back(-expected_speed(job, asked[place]) * size, place);
  }
  std::sort(worth.begin(), worth.end());
  std::vector<std::string> types;
  types.reserve(worth.size());
  for (const auto& [value, place] : worth) types.push_back(asked[place]);
  return types;
}

}  // namespace

bool start_job(DecisionDraft& draft, const Job& job, const Target& target) {
  if (job.spec.mixed_types || job.spec.slot_types.size() < 2) return start_on(draft, job, target, job.spec.slot_types);
  for (const std::string& type : in_order_of_worth(draft, job, target)) {
    if (start_on(draft, job, target, {type})) return true;
  }
  return false;
}

// Where rules say how its workers lie, the node that holds its state may count, too.
bool CappedStarts::start(DecisionDraft& draft, const Job& job, const Target& target, const NodeDemand& demand) {
  const JobSpec& spec = job.spec;
  if (is_arranged(spec)) return start_job(draft, job, target);
  const Like like{spec.elastic.sizes.front(), spec.gpus_per_worker, spec.mixed_types, demand};
  const int usable = draft.usable();
  const auto known = usable_in_vain_.find(like);
  if (known != usable_in_vain_.end() && usable <= known->second) return false;
  if (start_job(draft, job, target)) return true;
  usable_in_vain_.insert_or_assign(like, usable);
  return false;
}

}  // namespace tidepool::core
