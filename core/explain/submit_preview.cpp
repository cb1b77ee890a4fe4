#include "core/explain/submit_preview.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "base/overloaded.hpp"
#include "core/engine/engine.hpp"

namespace tidepool::core {
namespace {

constexpr int kRoundsMax = 8;  // of decisions after one fact, as in a turn of the daemon

void add_places(std::span<const WorkerPlacement> joining_workers, std::vector<SubmitPreview::Place>& places) {
  for (const WorkerPlacement& joining_worker : joining_workers) {
    const auto known = std::find_if(places.begin(), places.end(), [&](const SubmitPreview::Place& place) {
      return place.node == joining_worker.node;
    });
    if (known == places.end()) {
      places.push_back({joining_worker.node, 1});
    } else {
      ++known->workers;
    }
  }
  std::sort(places.begin(), places.end(), [](const auto& one, const auto& other) { return one.node < other.node; });
}

// The job's workers after the intent; none: it changes neither size nor place.
std::optional<int> size_after(const Intent& intent, int size) {
  const int joined = size + static_cast<int>(joining_workers_of(intent).size());
  using Size = std::optional<int>;
  return std::visit(
      Overloaded{
          [&](const StartIntent&) -> Size { return joined; }, [&](const GrowIntent&) -> Size { return joined; },
          [&](const ShrinkIntent& shrink) -> Size { return size - static_cast<int>(shrink.leaving_workers.size()); },
          [](const PreemptIntent&) -> Size { return 0; }, [&](const ReplaceIntent&) -> Size { return size; },
          [&](const MoveIntent& move) -> Size { return joined - static_cast<int>(move.leaving_workers.size()); },
          [](const auto&) -> Size { return std::nullopt; }},
      intent);
}

// Decides until nothing more follows; each plan goes to `on_plan` before it is accepted.
template <class OnPlan>
Status decide_all(Engine& engine, Instant now, OnPlan on_plan) {
  for (int round = 0; round < kRoundsMax; ++round) {
    const Decision decision = engine.decide(now);
    TP_TRY(engine.validate(decision));
    on_plan(decision.plan);
    engine.accept(decision);
    if (decision.empty()) break;
  }
  return ok_status();
}

}  // namespace

int SubmitPreview::size() const {
  return std::accumulate(places.begin(), places.end(), 0,
                         [](int sum, const Place& place) { return sum + place.workers; });
}

Result<SubmitPreview> preview_submit(const EngineParts& parts, const ClusterState& state, const Tried& tried,
                                     Instant now) {
  Engine engine(parts, state);
  now = std::max(now, state.now);
  // Changes that would follow without the submission are not its effect.
  TP_TRY(decide_all(engine, now, [](const Plan&) {}));
  const auto* resize = std::get_if<JobResizeRequested>(&tried);
  SubmitPreview preview{
      .after = {}, .job = resize != nullptr ? resize->job : engine.next_job_id(), .places = {}, .changes = {}};
  auto stepped = engine.step(
      {.at = now,
       .fact = resize != nullptr ? Fact(*resize) : Fact(JobSubmitted{preview.job, std::get<JobSpec>(tried)})});
  if (!stepped.ok()) return stepped.error();
  TP_TRY(decide_all(engine, now, [&](const Plan& plan) {
    for (const PlannedIntent& planned : plan) {
      const JobId id = job_of(planned.intent);
      if (id == preview.job) add_places(joining_workers_of(planned.intent), preview.places);
      const int size = engine.view().find_job(id)->size();
      const auto after = size_after(planned.intent, size);
      if (id != preview.job && after) {
        preview.changes.push_back({id, std::string(name_of(planned.intent)), size, *after});
      }
    }
  }));
  preview.after = engine.view();
  return preview;
}

}  // namespace tidepool::core
