// What a policy has answered for one round, copied out of the shared memory and checked: every number finite and in its
// range, every size one that the job may take, every number of nodes one that the pool may have, every job, tenant and
// pool answered for. And what follows from it: an allocation. Pure. A policy ranks and wishes; that wishes never exceed
// the cluster is this file's business.
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
  std::string code;  // a built-in reason's name or the policy's own word; empty = nothing was said
  std::vector<core::ReasonNumber> numbers;  // by name
};

// An empty vector = the policy has no such hook.
struct Answers {
  std::vector<bool> admitted;
  std::vector<double> rank;  // lowest first
  std::vector<int> sizes;
  std::vector<std::optional<int>> marks;  // nothing = keep the one it has
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

// More is not asked for: a claim beyond what a tenant can use is met as far as it can.
inline constexpr int kClaimMax = 1'000'000'000;

using Judged = std::variant<Answers, PolicyFault>;

// Where answers to the view lie.
[[nodiscard]] AnswersLayout layout_of(const cluster::View& view);
// `region` is a private copy of the answers to the view; nothing in it is trusted.
[[nodiscard]] Judged read_answers(const cluster::View& view, const std::vector<std::byte>& region);

// The fault that a failed round or load reports. Unknown names become policy.bad_reply.
[[nodiscard]] PolicyFault read_fault(const cluster::View& view, const AnswersHeader& header);

// Serves jobs by rank: each gets the size it should have or, while that does not fit, the largest smaller one that it
// may take. `standard` gives the order where there are no ranks, and the sizes with their reasons where there are none.
// Requires: it is standard_for() these answers, unless they have both.
[[nodiscard]] cluster::Allocation allocate(const cluster::View& view, const Answers& answers,
                                           const cluster::Allocation& standard = {});

// What the stages that a policy leaves out are taken from: the answer of `policy` for the jobs that may run, and for
// the others nothing and the last places. Not asked, and empty, where no stage is missing.
[[nodiscard]] cluster::Allocation standard_for(const cluster::View& view, const Answers& answers,
                                               const cluster::AllocationPolicy& policy, core::StepBudget& budget);

}  // namespace tidepool::policies::host
