// What a policy has answered for one round, copied out of the shared memory and checked: every number is finite and in
// its range, every size is one that the job may take, every number of nodes is one that the pool may have, and every
// job, tenant and pool has an answer. Then the allocation that follows from it. Pure. A policy ranks jobs and requests
// sizes; this file ensures that the requests never exceed the cluster.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "policies/cluster/allocation_policy.hpp"
#include "policies/host/policy_fault.hpp"
#include "policies/host/shared_image.hpp"

namespace tidepool::policies::host {

struct FileReason {
  std::string code;  // a built-in reason's name or the policy's own word; empty = no reason given
  std::vector<core::ReasonNumber> numbers;  // by name
};

// An empty vector = the policy has no such hook.
struct Answers {
  std::vector<bool> admitted;
  std::vector<double> rank;  // lowest first
  std::vector<int> sizes;
  std::vector<std::optional<int>> marks;  // none = keep the present mark
  std::vector<FileReason> why;            // one per job
  // One per tenant row: slots beyond its guarantee; none = the built-in rule decides. Rounded down to whole ones.
  std::vector<std::optional<int>> claims;
  // One per pool row: nodes that it should have; none = the built-in rule decides.
  std::vector<std::optional<int>> nodes;
  std::vector<FileReason> why_nodes;  // likewise
  // What the round took, as the host says.
  std::uint64_t instructions = 0;
  std::uint64_t memory_peak = 0;
};

// The maximum: a claim beyond what a tenant can use is met as far as the tenant can use it.
inline constexpr int kClaimMax = 1'000'000'000;

using Judged = std::variant<Answers, PolicyFault>;

// Where the answers to the view are in the region.
[[nodiscard]] AnswersLayout layout_of(const cluster::View& view);
// `region` is a private copy of the answers to the view; nothing in it is trusted.
[[nodiscard]] Judged read_answers(const cluster::View& view, const std::vector<std::byte>& region);

// The fault that a failed round or load reports. Unknown names become policy.bad_reply.
[[nodiscard]] PolicyFault read_fault(const cluster::View& view, const AnswersHeader& header);

// Serves jobs by rank: each gets its requested size or, while that does not fit, the largest smaller size that it may
// take. `standard` gives the order where there are no ranks, and the sizes with their reasons where there are none.
// Requires: it is standard_for() these answers, unless they have both.
[[nodiscard]] cluster::Allocation allocate(const cluster::View& view, const Answers& answers,
                                           const cluster::Allocation& standard = {});

// The source of the stages that a policy leaves out: the answer of `policy` for the jobs that may run; the other jobs
// get nothing and the last places. Not asked, and empty, where no stage is missing.
[[nodiscard]] cluster::Allocation standard_for(const cluster::View& view, const Answers& answers,
                                               const cluster::AllocationPolicy& policy, core::StepBudget& budget);

}  // namespace tidepool::policies::host
