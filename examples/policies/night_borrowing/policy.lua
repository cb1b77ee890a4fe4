-- night_borrowing: jobs of small weight are guests on other people's slots. By day they are not let in, and those that
-- run shrink to one slot; by night they may have whatever the others leave.
local P = {}

local function is_day(view, params)
  local hour = (view.now - params.midnight) % 86400 / 3600
  return hour >= params.day_from and hour < params.day_to
end

local function is_guest(view, i, params)
  return view.weight[i] < params.guest_weight
end

function P.admit(job, view, params)
  if is_guest(view, job, params) and is_day(view, params) then
    return false, "GuestByDay", {day_to = params.day_to}
  end
  return true
end

function P.order(view, params)
  local rank = {}
  for i = 1, view.n do
    rank[i] = is_guest(view, i, params) and 1 or 0
  end
  return rank
end

-- Guests share what the others leave, evenly, the older one first.
function P.size(view, params)
  local sizes, guests = {}, {}
  local left = view.slots
  for i = 1, view.n do
    if is_guest(view, i, params) then
      table.insert(guests, i)
    else
      sizes[i] = view.size_wanted[i]
      left = left - sizes[i]
    end
  end
  for place, i in ipairs(guests) do
    local share = math.max(0, left) // (#guests - place + 1)
    sizes[i] = math.min(share, view.size_max[i])
    if is_day(view, params) then
      sizes[i] = view.size[i] > 0 and 1 or 0
      view.why(i, "GuestByDay", {day_to = params.day_to})
    end
    left = left - sizes[i]
  end
  return sizes
end

return P
