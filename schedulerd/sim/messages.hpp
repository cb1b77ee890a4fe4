// What passes between the modelled daemon, its clients and its agents; the same content as the worker protocol
// and the REST interface carry, without their bytes. Anything in flight is lost when a link breaks.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "schedulerd/core/fact.hpp"
#include "schedulerd/core/job_spec.hpp"

namespace tidepool::sim {

// A client's submission; `key` makes the retry of an unanswered one harmless.
struct Submit {
  std::string key;
  core::JobSpec spec;
};
// The first message on an agent's link: every worker process that lives there.
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
// The machine's owner has told its agent that it will be taken back, or that it will not after all.
struct ReclaimNotice {
  int node = 0;
  bool on_notice = true;
};
using Incoming = std::variant<Submit, Hello, AgentReport, AgentSilent, ReclaimNotice>;

struct StartWorker {
  int node = 0;
  WorkerId worker;
  JobId job;
  std::vector<int> slots;
  std::string job_name;  // stands for the job's document
};
struct StopWorker {
  int node = 0;
  WorkerId worker;
  Duration grace;
};
// To all members and leavers of the job.
struct CommitGeneration {
  JobId job;
  GenerationNumber number = 0;
  std::vector<WorkerId> members;
  bool after_failure = false;
  bool park = false;  // no members: the state is kept and everybody leaves
};
// The programs of this generation are to start: to its members (core::ResizeMode::kRestart).
struct LaunchPrograms {
  JobId job;
  GenerationNumber number = 0;
};
// The newest share table of a generation, to its members.
struct ChangeShares {
  JobId job;
  GenerationNumber generation = 0;
  std::int64_t number = 0;
  std::vector<std::int64_t> weights;  // by rank
};
struct AckReport {
  int node = 0;
  std::uint64_t report = 0;
};
// The durable answer to a Submit.
struct Submitted {
  std::string key;
  JobId job;
};
using Outgoing =
    std::variant<StartWorker, StopWorker, CommitGeneration, LaunchPrograms, ChangeShares, AckReport, Submitted>;

}  // namespace tidepool::sim
