-- cost_cap: no slots are given out beyond params.per_hour, wherever the jobs are: each slot counts as much as the
-- dearest one. While the money lasts every job gets one slot, the oldest first; then jobs grow towards the size they
-- want, the one that gains most from its next slots first. A job that runs when the cap comes and that the money does not
-- reach keeps its slots until another job needs them.
local P = {}

-- The smallest size above `size` that job i may take and still wants; nil = none.
local function next_size(view, i, size)
  for _, option in ipairs(view.sizes[i]) do
    if option > size and option <= view.size_wanted[i] then return option end
  end
end

-- Of the dearest slot; params.price where no node says what it costs.
local function slot_price(view, params)
  local most = 0
  for node = 1, view.nodes do
    most = math.max(most, view.node_price[node])
  end
  return most > 0 and most or params.price
end

function P.size(view, params)
  local left = math.min(math.floor(params.per_hour / slot_price(view, params)), view.slots)
  local sizes = {}
  for i = 1, view.n do
    local first = next_size(view, i, 0) or 0
    sizes[i] = first <= left and first or 0
    left = left - sizes[i]
  end
  while true do
    local best, best_gain, best_size
    for i = 1, view.n do
      local size = sizes[i] > 0 and next_size(view, i, sizes[i])
      if size and size - sizes[i] <= left then
        local now = view.goodput(i, sizes[i])
        local gain = now > 0 and (view.goodput(i, size) / now - 1) / (size - sizes[i]) or 0
        if gain > 0 and (not best or gain > best_gain) then best, best_gain, best_size = i, gain, size end
      end
    end
    if not best then break end
    left = left - (best_size - sizes[best])
    sizes[best] = best_size
  end
  for i = 1, view.n do
    if sizes[i] < view.size_wanted[i] then
      view.why(i, "CostCap", {per_hour = params.per_hour, wanted = view.size_wanted[i]})
    end
  end
  return sizes
end

return P
