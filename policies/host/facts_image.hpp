// Writes a cluster view into the memory that the policy host reads: rows become columns, speed models become a table of
// options. Pure. Names of tenants and of slot types are among the facts; names of jobs, tokens and addresses are not.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "policies/cluster/cluster_view.hpp"
#include "policies/host/shared_image.hpp"

namespace tidepool::policies::host {

using ParamValue = std::variant<double, bool, std::string>;

struct Param {
  std::string name;  // at most kNameBytes - 1
  ParamValue value;  // a text of at most kTextBytes - 1
};

// The sizes for which a policy sees what they bring, ascending and about 64 at most: those that the job names, or all
// within a node and whole nodes beyond; its present and smallest size and the size that its user wants are always
// included.
struct Extent {
  int slots = 0;
  int slots_per_node = 1;
};
[[nodiscard]] Extent extent_of(const cluster::View& view);
[[nodiscard]] std::vector<int> size_options(const cluster::JobRow& job, const Extent& extent);

// `region` has kFactsBytes. An error if the view has no room in it.
[[nodiscard]] Status write_facts(const cluster::View& view, std::span<const Param> params, std::byte* region);

}  // namespace tidepool::policies::host
