-- tenant_priority: between params.day_from and params.day_to, what is left beyond guarantees goes to the tenant of the
-- greatest weight first, as much as it wants; then to the next. At other hours the built-in rule holds, which divides
-- it in proportion to weights. Which jobs have a tenant's slots, and at which size, is the default policy's business.
local P = {}

local function is_day(view, params)
  local hour = (view.now - params.midnight) % 86400 / 3600
  return hour >= params.day_from and hour < params.day_to
end

-- The slots that tenant t can have at most, and those of them that come first: its guarantee, or what it wants of it.
local function most_of(view, t)
  local most = view.tenant_wanted[t]
  if view.tenant_borrow[t] then
    most = math.min(most, view.tenant_guarantee[t] + view.tenant_borrow[t])
  end
  return most, math.min(most, view.tenant_guarantee[t])
end

-- The tenants below `parent` (false: those directly under the pool), the one of the greatest weight first; of those
-- alike, the one that stands first in the tree.
local function by_weight(view, parent)
  local rows = {}
  for t = 1, view.tenants do
    if view.tenant_parent[t] == parent then rows[#rows + 1] = t end
  end
  table.sort(rows, function(a, b) return view.tenant_weight[a] > view.tenant_weight[b] end)
  return rows
end

-- Divides `slots` among the tenants below `parent`, and what each has among those below it.
local function claim_below(view, parent, slots, claims)
  local rows = by_weight(view, parent)
  local left = slots
  for _, t in ipairs(rows) do
    local _, first = most_of(view, t)
    left = left - first
  end
  for _, t in ipairs(rows) do
    local most, first = most_of(view, t)
    claims[t] = math.max(0, math.min(left, most - first))
    left = left - claims[t]
    claim_below(view, t, first + claims[t], claims)
  end
end

function P.share(view, params)
  local claims = {}
  if is_day(view, params) then claim_below(view, false, view.slots, claims) end
  return claims -- none: the built-in rule decides
end

return P
