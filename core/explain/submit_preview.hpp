// What a submission would lead to if it were made now: the engine itself decides it, on a copy of the state, by the
// four calls that the real submission takes. Nothing of it is stored or carried out. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/decide/engine_parts.hpp"
#include "core/state/cluster_state.hpp"

namespace tidepool::core {

struct SubmitPreview {
  // Workers that the job starts with on one node.
  struct Place {
    NodeId node;
    int workers = 0;
    bool operator==(const Place&) const = default;
  };
  // What another job gives up, gets or moves because of the submission.
  struct Change {
    JobId job;
    std::string kind;  // the intent's name: "shrink", "preempt", "grow", "replace"
    int from = 0;      // workers
    int to = 0;
    bool operator==(const Change&) const = default;
  };

  ClusterState after;  // with the job in it, all of it decided and nothing carried out
  JobId job;
  std::vector<Place> places;  // where it would start at once, by node; empty = it would wait
  std::vector<Change> changes;

  [[nodiscard]] int size() const;  // workers that would start at once
};

// `now` is not before the newest fact of `state`. An error if the submission is refused, or the plan breaks a law.
[[nodiscard]] Result<SubmitPreview> preview_submit(const EngineParts& parts, const ClusterState& state,
                                                   const JobSpec& spec, Instant now);

}  // namespace tidepool::core
