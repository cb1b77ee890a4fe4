#include "core/decide/start_job.hpp"

#include <algorithm>

#include "core/decide/state_wait.hpp"
#include "core/state/job_state.hpp"
#include "core/words/retelling.hpp"

namespace tidepool::core {
namespace {

// How many workers of the job there is room for, of slots that are reserved for no other; 0 if it could not start.
int room_to_start(DecisionDraft& draft, const Job& job) {
  const int room = std::min(draft.free_slots().room_for(job), draft.usable() / job.spec.gpus_per_worker);
  return room < job.spec.elastic.sizes.front() ? 0 : room;
}

}  // namespace

bool start_job(DecisionDraft& draft, const Job& job, const Target& target) {
  const int smallest = job.spec.elastic.sizes.front();
  const int slots = job.spec.gpus_per_worker;
  const int room = room_to_start(draft, job);
  if (room == 0) return false;
  const auto batch = static_cast<int>(std::min<std::int64_t>(job.spec.batch.global, target.size));
  for (int size = allowed_size(job, std::min(batch, room));; size = allowed_size(job, size - 1)) {
    auto gang =
        draft.place_within_cap(job, {size, slots, job.spec.pack_node, {}, {}, holder_of_state(draft.state(), job)});
    if (gang) {
      const Reason reason =
          reason_of_start(target.reason, start_reason(draft.state(), job, *gang), static_cast<int>(gang->size()));
      draft.conclude(job, StartIntent{job.id, std::move(*gang)}, reason, &target);
      return true;
    }
    if (size == smallest) return false;
  }
}

}  // namespace tidepool::core
