-- deadline_first: a job is due at its deadline, or params.due seconds after it was submitted if it has none. The one with the least slack is served
-- first, and gets the smallest size at which it is done in time: slots that bring it nothing go to others. Jobs that
-- have declared no work, or are late whatever they get, follow in the order of their deadlines, at the size they want.
local P = {}

-- Seconds for which job i stands still on its way to `size`, as measured at sizes like it.
local function stop_of(view, i, size)
  local held = view.size[i]
  if size == held then return 0 end
  if held == 0 then return view.start_seconds_at(i, size) end
  return size > held and view.grow_seconds_at(i, size) or view.shrink_seconds_at(i, size)
end

-- Seconds that job i still needs at `size`; nil = its work is not declared.
local function seconds_left(view, i, size)
  local goodput = view.goodput(i, size)
  if not view.useful_left[i] then return nil end
  if goodput <= 0 then return math.huge end
  return view.useful_left[i] / goodput + stop_of(view, i, size)
end

-- The smallest size that meets the deadline of job i, and the slack that it leaves; nil = there is none.
local function just_enough(view, i, due)
  for _, size in ipairs(view.sizes[i]) do
    local left = seconds_left(view, i, size)
    if left and view.now + left <= due then return size, due - view.now - left end
  end
end

local function due_of(view, i, params)
  return view.deadline[i] or view.submitted[i] + params.due
end

function P.order(view, params)
  local rank = {}
  local late = 1e9 -- ranks of jobs that no size saves
  for i = 1, view.n do
    local due = due_of(view, i, params)
    local _, slack = just_enough(view, i, due)
    rank[i] = slack or late + due
  end
  return rank
end

function P.size(view, params)
  local sizes = {}
  for i = 1, view.n do
    local due = due_of(view, i, params)
    local size = just_enough(view, i, due)
    if size then
      view.why(i, "JustInTime", {size = size, due_in = due - view.now})
    elseif view.useful_left[i] then
      view.why(i, "TooLate", {due_in = due - view.now})
    else
      view.why(i, "WorkNotDeclared")
    end
    sizes[i] = size or view.size_wanted[i]
  end
  return sizes
end

return P
