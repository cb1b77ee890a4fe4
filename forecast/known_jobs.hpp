// Estimates for a job of which less is known, from the other jobs of a state: its speed, and how long similar jobs hold
// slots. Computed once from a state, which it does not keep. Pure.
//
// Jobs are similar by what they declare; the first of these groups with enough jobs counts: the same tenant, batch and
// slots a worker; the same batch and slots a worker; the same slots a worker; all. One measured job is enough for a
// speed. A length needs eight succeeded jobs of the same program (core/state/job_kind.hpp), those of the tenant first;
// else a group with succeeded jobs of eight programs, because the length of one program says nothing about another. The
// estimate is the median of the group.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/state/cluster_state.hpp"
#include "policies/engine/job_speed.hpp"
#include "policies/engine/similar_jobs.hpp"
#include "policies/engine/type_ratios.hpp"

namespace tidepool::forecast {

class KnownJobs {
 public:
  explicit KnownJobs(const core::ClusterState& state);

  // Steps a second of `workers` workers at the job's declared batch: the median of similar jobs.
  [[nodiscard]] std::optional<double> steps_per_second(const core::Job& job, int workers);
  // Slot-seconds that it will still use: the median, over similar jobs that used more than it has used by now, of the
  // difference. None if it has used more than all of them.
  [[nodiscard]] std::optional<double> slot_seconds_left(const core::Job& job) const;
  // Samples, as the engine's policies estimate them for a job whose pace was measured
  // (policies/engine/similar_jobs.hpp).
  [[nodiscard]] std::optional<double> samples_left(const core::Job& job, const policies::cluster::JobSpeed& speed,
                                                   const policies::cluster::TypeRatios& ratios);

 private:
  using Key = std::tuple<std::string, std::int64_t, int>;  // tenant, batch, slots a worker; empty or 0 = any
  struct Group {
    std::vector<std::size_t> measured;  // into speeds_
    std::vector<double> slot_seconds;   // of those that have succeeded, ascending
    std::set<std::uint64_t> kinds;      // of these
    std::size_t unnamed = 0;            // of these, those that named no program: each counts as one of its own
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
  void add_length(const core::EndedJob& job, const JobTraits& traits);
  [[nodiscard]] double middle_rate(const Group& group, int workers) const;

  std::vector<Speed> speeds_;
  std::map<Key, Group> groups_;
  // Slot-seconds of those that have succeeded, ascending, by kind and tenant; empty = any.
  std::map<std::pair<std::uint64_t, std::string>, std::vector<double>> by_program_;
  policies::cluster::SimilarJobs kin_;
};

}  // namespace tidepool::forecast
