// The result of a submission, or of a user's request for a size, if it were made now. The engine itself decides it on a
// copy of the state, by the same four calls. Nothing is stored or carried out. Pure.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "core/decide/engine_parts.hpp"
#include "core/state/cluster_state.hpp"
#include "core/state/fact.hpp"

namespace tidepool::core {

// A submitted job, or a request for the size of an existing job.
using Tried = std::variant<JobSpec, JobResizeRequested>;

struct SubmitPreview {
  // Workers of the job that start on one node.
  struct Place {
    NodeId node;
    int workers = 0;
    bool operator==(const Place&) const = default;
  };
  // What another job releases, receives or moves because of it.
  struct Change {
    JobId job;
    std::string kind;  // the intent's name: "shrink", "preempt", "grow", "replace"
    int from = 0;      // workers
    int to = 0;
    bool operator==(const Change&) const = default;
  };

  ClusterState after;  // with the job in it, everything decided and nothing carried out
  JobId job;
  std::vector<Place> places;  // where its workers would start at once, by node; empty = none would
  std::vector<Change> changes;

  [[nodiscard]] int size() const;  // workers that would start at once
};

// `now` is not before the newest fact of `state`. Returns an error if the request is refused, or the plan breaks a law.
[[nodiscard]] Result<SubmitPreview> preview_submit(const EngineParts& parts, const ClusterState& state,
                                                   const Tried& tried, Instant now);

}  // namespace tidepool::core
