// What a simulated world and its engine share: chance, time, and what the engine has learned so far.
//
// Safe rule. Facts reach the engine through learn() alone: whatever it answers, its books must stay right, and events
// are numbered upwards.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "tests/support/cluster_builders.hpp"

namespace tidepool::test {

class WorldRecord {
 public:
  // `parts(rng)` makes the engine's, with the first draws of chance.
  template <class MakeParts>
  WorldRecord(std::uint64_t seed, bool faults, const MakeParts& parts)
      : rng_(seed), faults_(faults), typed_(seed % 3 == 0), plain_(seed % 3 == 1), engine_(parts(rng_)) {}

  core::Engine& engine() { return engine_; }
  const core::ClusterState& state() const { return engine_.view(); }
  Instant now() const { return now_; }
  const std::vector<core::TimedFact>& facts() const { return history_; }

  // The jobs that have left the state since the last call; the world remembers them.
  std::vector<std::shared_ptr<const core::Job>> take_ended() {
    auto left = engine_.take_ended();
    for (const auto& job : left) ended_.emplace(job->id, job);
    return left;
  }

  // All that have.
  const std::map<JobId, std::shared_ptr<const core::Job>>& ended() const { return ended_; }

  // Learns a fact; whatever the engine answers, the books must stay right.
  bool learn(core::Fact fact) {
    const core::TimedFact timed{now_, std::move(fact)};
    const auto before = rng_.chance(0.05) ? std::optional(core::digest_of(state())) : std::nullopt;
    const auto answer = engine_.step(timed);
    if (!answer.ok() && before) REQUIRE(core::digest_of(state()) == *before);
    if (answer.ok()) {
      history_.push_back(timed);
      for (const auto& event : *answer) see(event);
    }
    return answer.ok();
  }
  void see(const core::Event& event) {
    REQUIRE(event.seq > last_event_);  // sound audits that are not told leave gaps
    last_event_ = event.seq;
  }

 protected:
  void pass(Duration time) { now_ = now_ + time; }

  template <class Map>
  typename Map::key_type pick(const Map& map) {
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(rng_.below(map.size())))->first;
  }

  // Users ask things of jobs that have ended, too.
  std::uint64_t submitted() const { return state().next_job - 1; }
  JobId pick_job() { return JobId(1 + rng_.below(submitted())); }
  const core::Job& job_of(JobId id) {
    (void)take_ended();
    const core::Job* known = state().find_job(id);
    return known != nullptr ? *known : *ended_.at(id);
  }

  void repeat_an_old_fact() {
    const core::Fact fact = history_[rng_.below(history_.size())].fact;
    // What only one party can say, and says once, is not repeated by accident.
    if (std::holds_alternative<core::JobSubmitted>(fact) || std::holds_alternative<core::NodeJoined>(fact)) return;
    if (std::holds_alternative<core::NodeLost>(fact) || std::holds_alternative<core::TrainingFinished>(fact)) return;
    learn(fact);
  }

  Rng rng_;
  bool faults_, typed_, plain_;
  bool strained_ = false;  // SimulatedWorld::strain()
  core::Engine engine_;
  Instant now_ = Instant::from_micros(1);
  std::vector<core::TimedFact> history_;

 private:
  EventSeq last_event_ = 0;
  std::map<JobId, std::shared_ptr<const core::Job>> ended_;  // that have left the state
};

}  // namespace tidepool::test
