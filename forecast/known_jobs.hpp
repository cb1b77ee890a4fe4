// What the jobs of a state tell of one of which less is known: how fast it may step, and how long jobs like it hold
// slots. Made once from a state, which it does not keep. Pure.
//
// Jobs are alike by what they declare, the closest of these groups that has enough of them: the same tenant, batch and
// slots a worker; the same batch and slots a worker; the same slots a worker; all. One job that was measured is enough
// to tell a speed, eight that have succeeded to tell a length. Of a group the middle one counts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "policies/cluster/job_speed.hpp"
#include "policies/cluster/similar_jobs.hpp"
#include "policies/cluster/type_ratios.hpp"

namespace tidepool::forecast {

class KnownJobs {
 public:
  explicit KnownJobs(const core::ClusterState& state);

  // Steps a second of `workers` workers at the batch that a job declares, by the middle one of those like it.
  [[nodiscard]] std::optional<double> steps_per_second(const core::Job& job, int workers);
  // Slot-seconds that it still holds: the middle one of what those like it that held more did beyond what it has held
  // by now. Nothing where it has held more than all of them.
  [[nodiscard]] std::optional<double> slot_seconds_left(const core::Job& job) const;
  // Samples, as the engine's policies expect of a job whose pace was measured (policies/cluster/similar_jobs.hpp).
  [[nodiscard]] std::optional<double> samples_left(const core::Job& job, const policies::cluster::JobSpeed& speed,
                                                   const policies::cluster::TypeRatios& ratios);

 private:
  using Key = std::tuple<std::string, std::int64_t, int>;  // tenant, batch, slots a worker; empty or 0 = any
  struct Group {
    std::vector<std::size_t> measured;  // into speeds_
    std::vector<double> slot_seconds;   // of those that have succeeded, ascending
    std::map<int, double> rates;        // the middle one's, by workers, as far as asked
  };
  struct JobTraits {
    std::string tenant;
    std::int64_t batch = 1;
    int gpus_per_worker = 1;
  };
  struct Speed {
    policies::cluster::JobSpeed speed;
    int gpus_per_worker = 1;
  };
  [[nodiscard]] static std::array<Key, 4> keys_of(const JobTraits& traits);
  void add_speed(const JobTraits& traits, policies::cluster::JobSpeed speed);
  void add_ended(const core::EndedJob& job);
  [[nodiscard]] double middle_rate(const Group& group, int workers) const;

  std::vector<Speed> speeds_;
  std::map<Key, Group> groups_;
  policies::cluster::SimilarJobs kin_;
};

}  // namespace tidepool::forecast
