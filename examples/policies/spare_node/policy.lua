-- spare_node: a pool has at least params.spare nodes more than jobs use; beyond that it has what the built-in rule
-- would give it, for gangs that wait and for jobs that are worth another node.
local P = {}

-- Of pool p, within its bounds.
local function wanted(view, p, used, spare)
  local nodes = math.max(view.pool_standard[p], used + spare)
  return math.max(view.pool_min[p], math.min(view.pool_max[p], nodes))
end

function P.provision(view, params)
  local nodes = {}
  for p = 1, view.pools do
    if params.pool == "" or params.pool == view.pool_name[p] then
      local used = view.pool_nodes[p] - view.pool_idle[p] - view.pool_coming[p]
      nodes[p] = wanted(view, p, used, params.spare)
      if nodes[p] > view.pool_standard[p] then
        view.why_pool(p, "Spare", {used = used, spare = params.spare})
      end
    end
  end
  return nodes -- none: the built-in rule decides
end

return P
