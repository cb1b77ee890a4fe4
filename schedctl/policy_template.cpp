#include "schedctl/policy_template.hpp"

namespace tidepool::ctl {

std::string policy_yaml_template(const std::string& name) {
  return "name: " + name + R"(
about: no job gets more slots than params.most
api: 2
params:
  most: {default: 4, min: 1, about: slots that one job may hold}
)";
}

std::string policy_lua_template(const std::string& name) {
  return "-- " + name + R"(: no job gets more slots than params.most.
-- Hooks are pure: the same view gives the same answer. docs/policies.md lists what a view holds.
local P = {}

-- The size that each job should have, 0 = nothing now. That they fit together is the daemon's business. Only sizes that
-- the job's file allows are answers: a job whose smallest is above the limit waits.
function P.size(view, params)
  local sizes = {}
  for i = 1, view.n do
    sizes[i] = 0
    for _, allowed in ipairs(view.sizes[i]) do
      if allowed <= math.min(view.size_wanted[i], params.most) then sizes[i] = allowed end
    end
    if sizes[i] < view.size_wanted[i] then
      view.why(i, "Capped", {most = params.most})
    end
  end
  return sizes
end

return P
)";
}

std::string policy_test_template() {
  return R"(- name: a job that wants more gets as much as is allowed
  params: {most: 2}
  cluster: {nodes: 2, slots_per_node: 4}
  jobs:
    - {name: large, wanted: 8}
    - {name: small, wanted: 1}
  expect:
    sizes: {large: 2, small: 1}
    grants: {large: 2, small: 1}
    why: {large: Capped}
- name: a job that needs more than is allowed waits
  params: {most: 2}
  cluster: {nodes: 2, slots_per_node: 4}
  jobs:
    - {name: gang, wanted: 4, min: 4}
  expect:
    sizes: {gang: 0}
    why: {gang: Capped}
)";
}

}  // namespace tidepool::ctl
