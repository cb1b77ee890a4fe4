#include "schedulerd/live/http/history_pages.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/json.hpp"
#include "schedulerd/live/http/openapi.hpp"
#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

// One request reads no more than this many times its limit; what it may not see is skipped.
constexpr int kRoundsMax = 8;

// Fills one page: `read` gives up to so many records from where it has come to, `show` renders one (null = not for this
// caller). `more` is false once the history has come to its end.
struct PageFilled {
  json items = json::array();
  bool more = true;
};
template <class Read, class Show>
PageFilled fill_page(int limit, Read read, Show show) {
  PageFilled page;
  for (int round = 0; page.more && round < kRoundsMax && page.items.size() < static_cast<std::size_t>(limit); ++round) {
    const int wanted = limit - static_cast<int>(page.items.size());
    const auto records = read(wanted);
    page.more = records.size() == static_cast<std::size_t>(wanted);
    for (const auto& record : records) {
      json rendered = show(record);
      if (!rendered.is_null()) page.items.push_back(std::move(rendered));
    }
  }
  return page;
}

Result<bool> reads_newest_first(const Call& call) {
  const std::string order = call.query("order");
  if (order.empty() || order == "asc") return false;
  if (order == "desc") return true;
  return invalid_argument("order must be asc, the oldest first, or desc, the newest first");
}

// Empty: events of all types.
Result<std::string> read_event_type(const Call& call) {
  const std::string type = call.query("type");
  const auto& known = event_types();
  if (type.empty() || std::find(known.begin(), known.end(), type) != known.end()) return type;
  const auto near = nearest_word(type, known);
  return invalid_argument("type \"" + type + "\" is no type of event" +
                          (near ? "; did you mean \"" + *near + "\"?"
                                : "; EventType in GET /v1/openapi.json lists them, such as " + known.front()));
}

}  // namespace

void reply_decisions(Rest& rest, const Call& call, std::optional<JobId> job) {
  const auto page = read_page(call, "decisions");
  if (!page) return call.fail(bad_parameter(page.error()));
  std::optional<DecisionId> before;
  if (page->after) before = DecisionId(*page->after);
  auto filled = fill_page(
      page->limit, [&](int wanted) { return rest.service().history().decisions(before, job, wanted); },
      [&](const StoredDecision& decision) {
        before = decision.id;
        auto rendered = render_decision(rest.seen_by(call), decision);
        if (rendered) return std::move(rendered).value();
        spdlog::error("decision {} cannot be shown: {}", decision.id.text(), rendered.error().message);
        return json();
      });
  const auto next = filled.more && before ? std::optional(make_cursor("decisions", before->number())) : std::nullopt;
  call.reply(200, page_body(std::move(filled.items), next, call.seen->as_of_seq));
}

void reply_events(Rest& rest, const Call& call, const EventsOf& of) {
  const auto newest_first = reads_newest_first(call);
  if (!newest_first) return call.fail(bad_parameter(newest_first.error()));
  const char* list = *newest_first ? "newest_events" : "events";
  const auto page = read_page(call, list);
  if (!page) return call.fail(bad_parameter(page.error()));
  const auto start = read_number(call, "after", {});
  if (!start) return call.fail(bad_parameter(start.error()));
  const auto type = read_event_type(call);
  if (!type) return call.fail(bad_parameter(type.error()));
  const auto brief = read_flag(call, "brief");
  if (!brief) return call.fail(bad_parameter(brief.error()));
  EventQuery query{.after = static_cast<EventSeq>(start.value()),
                   .job = of.job,
                   .node = of.node,
                   .type = *type,
                   .brief = *brief && type->empty(),
                   .newest_first = *newest_first};
  EventSeq& place = *newest_first ? query.before : query.after;
  place = page->after.value_or(place);
  auto filled = fill_page(
      page->limit,
      [&](int wanted) {
        query.limit = wanted;
        return rest.service().history().events(query);
      },
      [&](const core::Event& event) {
        place = event.seq;
        return render_event(rest.seen_by(call), event);
      });
  const auto next = filled.more ? std::optional(make_cursor(list, place)) : std::nullopt;
  call.reply(200, page_body(std::move(filled.items), next, call.seen->as_of_seq));
}

}  // namespace tidepool::live::http
