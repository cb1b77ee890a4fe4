// What passes between the modelled daemon, its clients and its agents; the same content as the worker protocol
// and the REST interface carry, without their bytes. Anything in flight is lost when a link breaks.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/state/fact.hpp"
#include "core/state/job_spec.hpp"

namespace tidepool::sim {

// A client's submission; `key` makes the retry of an unanswered one harmless.
struct Submit {
  std::string key;
  core::JobSpec spec;
};
// The first message on an agent's link: every worker process that lives there, or whose end has not been heard of.
struct Hello {
  int node = 0;  // index in the cluster
  std::vector<WorkerId> running;
};
// Something that has happened on a node. `report` is not 0 if it is repeated until acknowledged.
struct AgentReport {
  int node = 0;
  core::Fact fact;
  std::uint64_t report = 0;
};
// The daemon's own finding: an agent has been silent for longer than its patience.
struct AgentSilent {
  int node = 0;
};
// The machine is to get no more work: a user says so, or its owner will take it back; or that is over.
struct CordonNode {
  int node = 0;
  bool cordoned = true;
};
// What a user asks of a job that the daemon has acknowledged.
using UserWish = std::variant<core::JobResizeRequested, core::JobSuspendRequested, core::JobResumeRequested,
                              core::JobCancelRequested>;
using Incoming = std::variant<Submit, Hello, AgentReport, AgentSilent, CordonNode, UserWish>;

struct StartWorker {
  int node = 0;
  WorkerId worker;
  JobId job;
  std::vector<int> slots;
  std::string job_name;  // stands for the job's document
  bool operator==(const StartWorker&) const = default;
};
struct StopWorker {
  int node = 0;
  WorkerId worker;
  Duration grace;
  bool operator==(const StopWorker&) const = default;
};
// To all members and leaving workers of the job.
struct CommitGeneration {
  JobId job;
  GenerationNumber number = 0;
  std::vector<WorkerId> members;
  bool after_failure = false;
  bool park = false;  // no members: the state is kept and everybody leaves
  bool operator==(const CommitGeneration&) const = default;
};
// The programs of this generation are to start: to its members (core::ResizeMode::kRestart).
struct LaunchPrograms {
  JobId job;
  GenerationNumber number = 0;
  bool operator==(const LaunchPrograms&) const = default;
};
// The newest share table of a generation, to its members.
struct ChangeShares {
  JobId job;
  GenerationNumber generation = 0;
  std::int64_t number = 0;
  std::vector<std::int64_t> weights;  // by rank
  bool operator==(const ChangeShares&) const = default;
};
struct AckReport {
  int node = 0;
  std::uint64_t report = 0;
  bool operator==(const AckReport&) const = default;
};
// The durable answer to a Submit.
struct Submitted {
  std::string key;
  JobId job;
  bool operator==(const Submitted&) const = default;
};
using Outgoing =
    std::variant<StartWorker, StopWorker, CommitGeneration, LaunchPrograms, ChangeShares, AckReport, Submitted>;

}  // namespace tidepool::sim
