-- elastic_tiresias: Elastic Tiresias (Wu et al., "Elastic Deep Learning in Multi-Tenant GPU Clusters", TPDS 2022) on the
-- queues of Tiresias (Gu et al., NSDI 2019). Jobs are served at the size they want, those with little attained service
-- first. Compaction: when more than params.many wait, running jobs of the second queue give back all but one slot.
-- Expansion: what is left goes, step by step, to the job to which its next slots bring most.
-- Departs in that a job's smallest size is one slot and that speed-ups are goodputs.
local P = {}

local function queue_of(view, i, params)
  return view.slot_seconds[i] >= params.threshold and 1 or 0
end

-- Rows in the order of service: queue, then when they came into it, then submission.
local function rows_in_order(view, params)
  local rows = {}
  for i = 1, view.n do rows[i] = i end
  local function came(i)
    return view.marked[i] == queue_of(view, i, params) and view.marked[i] > 0 and view.marked_since[i]
      or (queue_of(view, i, params) > 0 and view.now or view.submitted[i])
  end
  table.sort(rows, function(a, b)
    local qa, qb = queue_of(view, a, params), queue_of(view, b, params)
    if qa ~= qb then return qa < qb end
    return came(a) < came(b)
  end)
  return rows
end

local function next_size(view, i, size)
  for _, option in ipairs(view.sizes[i]) do
    if option > size then return option end
  end
end

-- What one slot more brings job i, relative to what it has; waiting jobs count from one slot.
local function gain(view, i, from, to)
  local one = view.goodput(i, 1)
  if one <= 0 then return 0 end
  local before = from > 0 and view.goodput(i, from) or 0
  return (view.goodput(i, to) - before) / one / (to - from)
end

function P.order(view, params)
  local rank = {}
  for place, i in ipairs(rows_in_order(view, params)) do
    rank[i] = place
    view.mark(i, queue_of(view, i, params))
  end
  return rank
end

function P.size(view, params)
  local rows = rows_in_order(view, params)
  local sizes, left, waiting = {}, view.slots, 0
  for _, i in ipairs(rows) do
    local fits = view.size_wanted[i] <= left
    sizes[i] = fits and view.size_wanted[i] or 0
    left = left - sizes[i]
    if not fits then waiting = waiting + 1 end
  end
  if waiting > params.many then
    for _, i in ipairs(rows) do
      if sizes[i] > 1 and queue_of(view, i, params) == 1 then
        left = left + sizes[i] - 1
        sizes[i] = 1
        view.why(i, "Compacted", {waiting = waiting})
      end
    end
  end
  while left > 0 do
    local best, best_gain, best_size
    for _, i in ipairs(rows) do
      local size = next_size(view, i, sizes[i])
      if size and size - sizes[i] <= left then
        local worth = gain(view, i, sizes[i], size)
        if worth > 0 and (not best or worth > best_gain) then best, best_gain, best_size = i, worth, size end
      end
    end
    if not best then break end
    left = left - (best_size - sizes[best])
    sizes[best] = best_size
    view.why(best, "Expanded", {gain = best_gain})
  end
  return sizes
end

return P
