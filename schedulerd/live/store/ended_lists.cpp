#include "schedulerd/live/store/ended_lists.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace tidepool::live {
namespace {

constexpr core::JobState kFinalStates[] = {core::JobState::kSucceeded, core::JobState::kFailed,
                                           core::JobState::kCancelled};

EndedRow ended_row_at(const Row& row) {
  return {JobId(static_cast<std::uint64_t>(row.integer(0))),
          row.text(1),
          row.text(2),
          row.text(3),
          Instant::from_micros(row.integer(4)),
          Instant::from_micros(row.integer(5)),
          row.text(6)};
}

std::vector<std::string> states_of(const EndedQuery& query) {
  std::vector<std::string> states;
  for (const core::JobState state : kFinalStates) {
    const bool asked =
        query.states.empty() || std::find(query.states.begin(), query.states.end(), state) != query.states.end();
    if (asked) states.emplace_back(core::to_text(state));
  }
  return states;
}

bool is_in_subtree(const EndedQuery& query, const std::string& tenant) {
  return query.subtree.empty() || tenant == query.subtree || tenant.starts_with(query.subtree + "/") ||
         std::find(query.below.begin(), query.below.end(), tenant) != query.below.end();
}

}  // namespace

// Of one tenant and state, and of the name that is asked for.
struct EndedLists::Strand {
  std::string tenant;
  std::string state;
  std::int64_t at = 0;  // its newest job that has not been listed; 0 = none
};

Status EndedLists::prepare(Database& database) {
  const std::pair<Statement*, const char*> texts[] = {
      {&all_, kEndedAll},           {&of_state_, kEndedOfState},
      {&of_name_, kEndedOfName},    {&row_, kEndedRow},
      {&next_, kNextOfTenant},      {&next_of_name_, kNextOfTenantAndName},
      {&next_tenant_, kNextTenant}, {&next_tenant_of_name_, kNextTenantOfName},
  };
  return database.prepare_all(texts);
}

Status EndedLists::read(const EndedQuery& query, std::vector<EndedRow>& rows) {
  const std::int64_t below =
      query.before ? static_cast<std::int64_t>(query.before->number()) : std::numeric_limits<std::int64_t>::max();
  const bool of_all_tenants = query.tenant.empty() && query.subtree.empty();
  if (of_all_tenants && (query.name.empty() || query.states.empty())) return read_plain(query, below, rows);
  std::vector<std::string> tenants;
  TP_TRY(find_tenants(query, tenants));
  std::vector<Strand> strands;
  for (const std::string& tenant : tenants) {
    for (const std::string& state : states_of(query)) strands.push_back({tenant, state, below});
  }
  for (Strand& strand : strands) TP_TRY(advance(query, strand));
  return read_strands(query, std::move(strands), rows);
}

// Of all tenants: of any state or name, of some states, or of a name.
Status EndedLists::read_plain(const EndedQuery& query, std::int64_t below, std::vector<EndedRow>& rows) {
  const auto on_row = [&](const Row& row) { rows.push_back(ended_row_at(row)); };
  if (!query.name.empty()) return of_name_.each(on_row, below, query.limit, query.name);
  if (query.states.empty()) return all_.each(on_row, below, query.limit);
  for (const std::string& state : states_of(query)) TP_TRY(of_state_.each(on_row, below, query.limit, state));
  std::sort(rows.begin(), rows.end(), [](const auto& one, const auto& other) { return one.id > other.id; });
  if (rows.size() > static_cast<std::size_t>(query.limit)) rows.resize(static_cast<std::size_t>(query.limit));
  return ok_status();
}

// Those whose jobs the query may list, each once; some may have none.
Status EndedLists::find_tenants(const EndedQuery& query, std::vector<std::string>& tenants) {
  if (!query.tenant.empty()) {
    if (is_in_subtree(query, query.tenant)) tenants.push_back(query.tenant);
    return ok_status();
  }
  std::optional<std::string> found;
  const auto on_row = [&](const Row& row) { found = row.text(0); };
  const auto collect = [&](std::string after, auto&& next) -> Status {
    do {
      found.reset();
      TP_TRY(next(after));
      if (found) tenants.push_back(*found);
      after = found.value_or("");
    } while (found);
    return ok_status();
  };
  if (query.subtree.empty()) {
    return collect("", [&](const std::string& after) { return next_tenant_of_name_.each(on_row, query.name, after); });
  }
  const std::string end = query.subtree + static_cast<char>('/' + 1);
  TP_TRY(collect(query.subtree + "/", [&](const std::string& after) { return next_tenant_.each(on_row, after, end); }));
  tenants.push_back(query.subtree);
  tenants.insert(tenants.end(), query.below.begin(), query.below.end());
  std::sort(tenants.begin(), tenants.end());
  tenants.erase(std::unique(tenants.begin(), tenants.end()), tenants.end());
  return ok_status();
}

Status EndedLists::advance(const EndedQuery& query, Strand& strand) {
  const std::int64_t below = std::exchange(strand.at, 0);
  const auto on_row = [&](const Row& row) { strand.at = row.integer(0); };
  if (query.name.empty()) return next_.each(on_row, strand.tenant, strand.state, below);
  return next_of_name_.each(on_row, strand.tenant, strand.state, below, query.name);
}

Status EndedLists::read_strands(const EndedQuery& query, std::vector<Strand> strands, std::vector<EndedRow>& rows) {
  using Place = std::pair<std::int64_t, std::size_t>;  // of a strand's newest job, and the strand
  std::priority_queue<Place> newest;
  const auto put = [&](std::size_t index) {
    if (strands[index].at > 0) newest.push({strands[index].at, index});
  };
  for (std::size_t i = 0; i < strands.size(); ++i) put(i);
  while (!newest.empty() && rows.size() < static_cast<std::size_t>(query.limit)) {
    const auto [id, index] = newest.top();
    newest.pop();
    TP_TRY(row_.each([&](const Row& row) { rows.push_back(ended_row_at(row)); }, id));
    TP_TRY(advance(query, strands[index]));
    put(index);
  }
  return ok_status();
}

}  // namespace tidepool::live
