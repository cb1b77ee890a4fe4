#include "schedulerd/live/http/history_pages.hpp"

#include <spdlog/spdlog.h>

#include "schedulerd/live/http/paging.hpp"
#include "schedulerd/live/http/render.hpp"

namespace tidepool::live::http {
namespace {

using nlohmann::json;

// One request looks at no more than this many times its limit; what it may not see is skipped.
constexpr int kRoundsMax = 8;

}  // namespace

void reply_decisions(Rest& rest, const Call& call, std::optional<JobId> job) {
  const auto page = read_page(call, "decisions");
  if (!page) return call.fail(bad_parameter(page.error()));
  std::optional<DecisionId> before;
  if (page->after) before = DecisionId(*page->after);
  json items = json::array();
  bool more = true;
  for (int round = 0; more && round < kRoundsMax && items.size() < static_cast<std::size_t>(page->limit); ++round) {
    const int wanted = page->limit - static_cast<int>(items.size());
    const auto stored = rest.service().history().decisions(before, job, wanted);
    more = stored.size() == static_cast<std::size_t>(wanted);
    for (const auto& decision : stored) {
      before = decision.id;
      auto rendered = render_decision(*call.seen, decision, call.caller);
      if (!rendered) {
        spdlog::error("decision {} cannot be shown: {}", decision.id.text(), rendered.error().message);
      } else if (!rendered->is_null()) {
        items.push_back(std::move(rendered).value());
      }
    }
  }
  const auto next = more && before ? std::optional(make_cursor("decisions", before->number())) : std::nullopt;
  call.reply(200, page_body(std::move(items), next, call.seen->as_of_seq));
}

void reply_events(Rest& rest, const Call& call, std::optional<JobId> job) {
  const auto page = read_page(call, "events");
  if (!page) return call.fail(bad_parameter(page.error()));
  const auto start = read_number(call, "after", {});
  if (!start) return call.fail(bad_parameter(start.error()));
  EventSeq after = page->after.value_or(static_cast<EventSeq>(start.value()));
  json items = json::array();
  bool more = true;
  for (int round = 0; more && round < kRoundsMax && items.size() < static_cast<std::size_t>(page->limit); ++round) {
    const int wanted = page->limit - static_cast<int>(items.size());
    const auto events = rest.service().history().events(after, job, wanted);
    more = events.size() == static_cast<std::size_t>(wanted);
    for (const auto& event : events) {
      after = event.seq;
      json rendered = render_event(*call.seen, event, call.caller);
      if (!rendered.is_null()) items.push_back(std::move(rendered));
    }
  }
  const auto next = more ? std::optional(make_cursor("events", after)) : std::nullopt;
  call.reply(200, page_body(std::move(items), next, call.seen->as_of_seq));
}

}  // namespace tidepool::live::http
