#include "schedctl/forecast_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/time.hpp"
#include "base/timestamp.hpp"
#include "schedctl/text_table.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kDay = 10;  // "2026-11-20"

constexpr std::size_t kMinute = 16;  // "2026-11-20 15:10"
constexpr std::size_t kSecond = 19;

// So much of the moment, without its day if that is the day of the other one.
std::string part_of(const std::string& timestamp, const std::string& beside, std::size_t length) {
  const std::string moment = moment_of(timestamp);
  if (moment.size() < length) return moment;
  const bool same_day = moment.substr(0, kDay) == moment_of(beside).substr(0, kDay);
  return same_day ? moment.substr(kDay + 1, length - kDay - 1) : moment.substr(0, length);
}

// To the minute: "15:10", and of another day "2026-11-21 15:10".
std::string minute_of(const std::string& timestamp, const std::string& beside) {
  return part_of(timestamp, beside, kMinute);
}

// Without sizes that last less than a second, such as none before a start at once. That it had workers at all is told
// also of a job that loses them in the same second.
json lasting(const json& sizes, const std::string& beside) {
  json kept = json::array();
  const auto second_of = [&](const json& from) { return part_of(text_at(from, "/at"), beside, kSecond); };
  for (const json& from : sizes) {
    const bool loses_all = integer_at(from, "/size") == "0" && !kept.empty() && integer_at(kept.back(), "/size") != "0";
    if (!kept.empty() && !loses_all && second_of(kept.back()) == second_of(from)) kept.erase(kept.size() - 1);
    kept.push_back(from);
  }
  return kept;
}

// To the second where two of the moments fall into one minute.
std::string sizes_text(const json& all, const std::string& beside, const Style& style) {
  const json sizes = lasting(all, beside);
  const auto minute_at = [&](const json& from) { return minute_of(text_at(from, "/at"), beside); };
  const auto alike = [&](const json& a, const json& b) { return minute_at(a) == minute_at(b); };
  const bool to_the_minute = std::adjacent_find(sizes.begin(), sizes.end(), alike) == sizes.end();
  TextTable table({{.title = "FROM (UTC)"}, {.title = "WORKERS", .right = true}});
  for (const json& from : sizes) {
    table.add({part_of(text_at(from, "/at"), beside, to_the_minute ? kMinute : kSecond), integer_at(from, "/size")});
  }
  return table.text(style);
}

bool has_passed(const std::string& timestamp, const std::string& now) {
  const auto at = micros_of(timestamp);
  const auto until = micros_of(now);
  return at && until && *at <= *until;
}

// "at about 15:10 UTC (between 15:02 and 15:31)", later "any moment, by 15:31 UTC", and "by 15:31 UTC, but is late"
std::string about(const json& expected, const std::string& now) {
  const auto at = [&](const char* pointer) { return minute_of(text_at(expected, pointer), now); };
  if (has_passed(text_at(expected, "/late"), now)) return "by " + at("/late") + " UTC, but is late";
  if (has_passed(text_at(expected, "/expected"), now)) return "any moment, by " + at("/late") + " UTC";
  std::string words = "at about " + at("/expected") + " UTC";
  if (at("/early") != at("/late")) words += " (between " + at("/early") + " and " + at("/late") + ")";
  return words;
}

std::string basis_in_words(const std::string& basis) {
  if (basis == "declared") return "from the work that it declares";
  if (basis == "told") return "from the length that its program reports";
  if (basis == "kin") return "from how long similar jobs took";
  return "";
}

// Seconds. A shorter delay is within what forecasts are off by, and is not told.
constexpr double kDelayTold = 60;

// Nothing but shorter ones.
bool is_slight(const json& change) {
  const std::string effect = text_at(change, "/effect");
  const auto start = number_at(change, "/starts_later_s");
  const auto end = number_at(change, "/ends_later_s");
  const bool is_delay = (start || end) && (effect == "later" || effect == "sooner");
  return is_delay && std::max(std::abs(start.value_or(0)), std::abs(end.value_or(0))) < kDelayTold;
}

std::string delay_in_words(const json& change, const char* field, const char* verb) {
  const auto seconds = number_at(change, std::string("/") + field);
  if (!seconds || std::abs(*seconds) < kDelayTold) return "";
  return std::string(verb) + " " + seconds_in_words(std::abs(*seconds)) + (*seconds > 0 ? " later" : " sooner");
}

// "job-5 and 1 more job": of a row in which `field` names a job, and another one how many share its slots; empty if
// none is named.
std::string claimants_in(const json& row, const std::string& field) {
  const std::string claimant = text_at(row, "/" + field);
  const double others = number_at(row, "/" + field + "_others").value_or(0);
  return claimant.empty() || others < 1 ? claimant : claimant + " and " + count_of(others, "more job");
}

std::string shrunk_for(const json& change) {
  const std::string claimants = claimants_in(change, "shrunk_for");
  return claimants.empty() ? "" : ", as slots of it go to " + claimants;
}

// ", as the budget of tenant lab pauses it": why the job has less, where that is not for another one.
std::string by_budget(const json& change) {
  const std::string tenant = printable(text_at(change, "/budget/tenant"));
  if (tenant.empty()) return "";
  const bool pauses = text_at(change, "/budget/action") == "pause";
  return ", as the budget of tenant " + tenant + (pauses ? " pauses it" : " takes it down to its smallest size");
}

std::string change_in_words(const json& change, const std::string& beside) {
  std::string words = text_at(change, "/job") + " (" + printable(text_at(change, "/name")) + ") ";
  const std::string effect = text_at(change, "/effect");
  const std::string when = minute_of(text_at(change, "/at"), beside) + " UTC";
  if (effect == "preempted") {
    const std::string claimant = text_at(change, "/preempted_for");
    words += "would release its " + count_of(number_at(change, "/from").value_or(0), "worker") +
             (claimant.empty() ? "" : " for " + claimant) + " at about " + when + by_budget(change);
  }
  if (effect == "ended") {
    words +=
        "would be ended by the budget of tenant " + printable(text_at(change, "/budget/tenant")) + " at about " + when;
  }
  if (effect == "shrunk") {
    words += "would have " + whole(number_at(change, "/to").value_or(0)) + " in place of " +
             count_of(number_at(change, "/from").value_or(0), "worker") + " from about " + when + shrunk_for(change) +
             by_budget(change);
  }
  std::string delays = delay_in_words(change, "starts_later_s", "start");
  const std::string ends = delay_in_words(change, "ends_later_s", "end");
  if (!ends.empty()) delays += (delays.empty() ? "" : " and ") + ends;
  const bool is_cut = effect == "preempted" || effect == "shrunk" || effect == "ended";
  if (!delays.empty()) return words + (is_cut ? ", and " : "would ") + delays;
  return is_cut ? words : words + "would no longer have a time that can be told";
}

std::string cost_in_words(const json& plan) {
  const std::string currency = text_at(plan, "/currency");
  const auto amount = [&](const char* which) { return text_at(plan, std::string("/forecast/cost/") + which, "0"); };
  if (text_at(plan, "/forecast/end/expected").empty()) {
    const bool has_some = amount("expected").find_first_of("123456789") != std::string::npos;
    return has_some ? "at least " + money(amount("expected"), currency) : "unknown, as its end is";
  }
  if (amount("low") == amount("high")) return money(amount("expected"), currency);
  return "about " + money(amount("expected"), currency) + " (between " + money(amount("low"), "") + " and " +
         money(amount("high"), currency) + ")";
}

// "7 days": how far a forecast looked that found neither start nor end of a job; empty: it found one, or is past that.
std::string looked_ahead(const json& forecast, const std::string& now) {
  const std::string not_before = text_at(forecast, "/not_before");
  const auto made = micros_of(text_at(forecast, "/computed_at"));
  const auto until = micros_of(not_before);
  if (!made || !until || *until <= *made || has_passed(not_before, now)) return "";
  constexpr double kDaySeconds = 86'400;
  const double seconds = static_cast<double>(*until - *made) * 1e-6;
  return seconds < 2 * kDaySeconds ? seconds_in_words(seconds) : count_of(std::round(seconds / kDaySeconds), "day");
}

// ", when job-7 ends": whose slots a job that waits is given, while that is still to come.
std::string freed_in_words(const json& forecast, const std::string& now) {
  const std::string job = text_at(forecast, "/starts_after/job");
  if (job.empty() || has_passed(text_at(forecast, "/start/expected"), now)) return "";
  const std::string how = text_at(forecast, "/starts_after/how");
  if (how == "ends") return ", when " + job + " ends";
  return ", when " + job + " releases " + (how == "gives_up_some" ? "some of its slots" : "its slots");
}

// "; at about 15:10 UTC slots of it go to job-9, and it continues with 2 workers": the next time that others take some.
std::string taken_in_words(const json& forecast, std::string now) {
  if (now.empty()) now = text_at(forecast, "/computed_at");
  for (const json& from : list_at(forecast, "/sizes")) {
    const std::string claimants = claimants_in(from, "taken_for");
    const std::string at = text_at(from, "/at");
    if (claimants.empty() || has_passed(at, now)) continue;
    const double left = number_at(from, "/size").value_or(0);
    return "; at about " + minute_of(at, now) + " UTC slots of it go to " + claimants +
           (left == 0 ? ", and it waits again" : ", and it continues with " + count_of(left, "worker"));
  }
  return "";
}

// "; at about 15:10 UTC the budget of tenant lab pauses it", while that is to come. An end by it is told as the end.
std::string budget_in_words(const json& forecast, std::string now) {
  if (now.empty()) now = text_at(forecast, "/computed_at");
  const std::string action = text_at(forecast, "/budget/action");
  const std::string at = text_at(forecast, "/budget/at");
  if (has_passed(at, now) || (action != "pause" && action != "shrink")) return "";
  return "; at about " + minute_of(at, now) + " UTC the budget of tenant " +
         printable(text_at(forecast, "/budget/tenant")) +
         (action == "pause" ? " pauses it" : " takes it down to its smallest size");
}

// It is its budget that ends it.
bool is_stopped(const json& forecast) {
  return text_at(forecast, "/outcome") == "cancelled" && text_at(forecast, "/budget/action") == "stop";
}

// It is given slots, whether it starts by then or not.
bool is_given_slots(const json& forecast) {
  return !text_at(forecast, "/slots_at").empty();
}

constexpr std::int64_t kOldUs = 60'000'000;
constexpr std::int64_t kSoonUs = 60'000'000;  // a first step that comes so soon is not told beside a start at once

struct Start {
  std::string words;  // empty: it has none
  bool has_clause = false;
};

// "expected to start at about 15:10 UTC (between 15:02 and 15:31), when job-7 ends", "expected to start at once", and
// where its workers boot for longer "expected to start at once, with its first step at about 15:10 UTC (…)".
Start start_in_words(const json& forecast, const std::string& now) {
  const bool at_once = forecast.value("at_once", false);
  if (!forecast.value("start", json()).is_object()) {
    if (!is_given_slots(forecast)) return {};
    const std::string when = at_once ? "once" : "about " + minute_of(text_at(forecast, "/slots_at"), now) + " UTC";
    return {"expected to start at " + when};
  }
  const std::string first_step = text_at(forecast, "/start/expected");
  if (!at_once || has_passed(first_step, now)) {
    const std::string freed = freed_in_words(forecast, now);
    return {"expected to start " + about(forecast.at("start"), now) + freed, !freed.empty()};
  }
  const auto until = micros_of(first_step);
  const auto from = micros_of(now);
  if (until && from && *until - *from < kSoonUs) return {"expected to start at once"};
  return {"expected to start at once, with its first step " + about(forecast.at("start"), now), true};
}

// "be ended by the budget of tenant lab at about 15:10 UTC (…)", "end at about 16:40 UTC (…), from how long …"
std::string end_in_words(const json& forecast, const std::string& now) {
  const std::string when = about(forecast.at("end"), now);
  if (is_stopped(forecast)) {
    return "be ended by the budget of tenant " + printable(text_at(forecast, "/budget/tenant")) + " " + when;
  }
  const std::string basis = basis_in_words(text_at(forecast, "/end/basis"));
  return (text_at(forecast, "/outcome") == "failed" ? "be ended at a limit " : "end ") + when +
         (basis.empty() ? "" : ", " + basis);
}

// "; as of 14:02 UTC; the policy file capped@0123456789ab, which decides, was not asked": what limits a forecast.
std::string rests_in_words(const json& forecast, const std::string& now) {
  const std::string made_at = text_at(forecast, "/computed_at");
  const auto made = micros_of(made_at);
  const auto until = micros_of(now);
  std::string words;
  if (made && until && *until - *made > kOldUs) words = "; as of " + minute_of(made_at, now) + " UTC";
  const std::string file = text_at(forecast, "/unasked_policy");
  if (!file.empty()) words += "; the policy file " + printable(file) + ", which decides, was not asked";
  return words;
}

std::string workers(const json& count) {
  return count.dump() + (count == 1 ? " worker" : " workers");
}

// "2 workers on n1, 1 worker on n2"
std::string places_of(const json& decision) {
  std::string places;
  for (const json& place : decision.at("places")) {
    places +=
        (places.empty() ? "" : ", ") + workers(place.at("workers")) + " on " + printable(text_at(place, "/node_name"));
  }
  return places;
}

// "job-3 (train) would shrink from 4 to 2 workers"
std::string decided_change(const json& change) {
  const bool is_foreign = change.at("job").is_null();
  const std::string job = is_foreign ? "a job of another tenant"
                                     : text_at(change, "/job") + " (" + printable(text_at(change, "/name")) + ")";
  const std::string kind = text_at(change, "/kind");
  if (kind == "preempt") return job + " would release its " + workers(change.at("from"));
  if (kind == "replace") return job + " would move a worker";
  if (kind == "move") return job + " would move to slots of another type";
  return job + " would " + kind + " from " + change.at("from").dump() + " to " + workers(change.at("to"));
}

}  // namespace

std::string forecast_in_words(const json& forecast, std::string now) {
  if (!forecast.is_object()) return "";
  const std::string made_at = text_at(forecast, "/computed_at");
  if (now.empty()) now = made_at;
  const Start start = start_in_words(forecast, now);
  const bool starts = !start.words.empty();
  const std::string& words = start.words;
  if (forecast.value("end", json()).is_object()) {
    if (!starts) return "expected to " + end_in_words(forecast, now);
    return words + (start.has_clause ? ", and to " : " and to ") + end_in_words(forecast, now);
  }
  const bool is_known = text_at(forecast, "/basis") != "unknown";
  if (starts && !is_known) return words + "; its end is unknown";
  if (!is_known && text_at(forecast, "/not_before") == made_at)
    return "its end is unknown: its work is not declared or its speed not measured yet, and there is no similar job to "
           "estimate from";
  const std::string ahead = looked_ahead(forecast, now);
  if (ahead.empty()) return starts ? words + "; its end is unknown" : "";
  return words + (starts ? "; " : "") + "the forecast looks " + ahead + " ahead and sees no end";
}

// Of a job that has no start within the time that is looked ahead; empty if it has one, or nothing is known.
std::string no_start_in_words(const json& forecast, const std::string& now) {
  if (!forecast.is_object() || forecast.value("start", json()).is_object() || is_given_slots(forecast)) return "";
  const std::string ahead = looked_ahead(forecast, now);
  return ahead.empty() ? "" : "the forecast looks " + ahead + " ahead and sees no start";
}

std::string job_forecast_in_words(json forecast, const std::string& state, const std::string& now) {
  if (!forecast.is_object()) return "";
  const std::string rests =
      taken_in_words(forecast, now) + budget_in_words(forecast, now) + rests_in_words(forecast, now);
  if (std::string never = state == "pending" ? no_start_in_words(forecast, now) : ""; !never.empty())
    return never + rests;
  const bool has_started = state != "pending" && state != "suspending" && state != "suspended";
  const bool is_over = has_started && forecast.value("start", json()).is_object();  // the start
  // Without an end it knows no more than when that start is.
  const bool is_guess =
      is_over && text_at(forecast, "/basis") == "unknown" && !forecast.value("end", json()).is_object();
  if (is_guess) return "its end is unknown" + rests;
  if (is_over) forecast["start"] = nullptr;
  if (has_started) forecast["slots_at"] = nullptr;
  const std::string words = forecast_in_words(forecast, now);
  if (words.empty() && !is_over) return "";
  return (words.empty() ? "its end is unknown" : words) + rests;
}

namespace {

// Of a forecast that saw no end by the deadline, in microseconds since 1970.
std::string told_without_end(const json& forecast, std::int64_t due, const std::string& now) {
  const auto until = micros_of(text_at(forecast, "/not_before"));
  if (!until || *until <= due) return "";
  const std::string start = text_at(forecast, "/start/expected");
  const auto starts = micros_of(start);
  if (starts && *starts > due) {
    return utc_text(due / 1'000'000) + "; to be missed: the start is expected at about " + moment_of(start) + " UTC";
  }
  const std::string ahead = looked_ahead(forecast, now);
  if (ahead.empty() || (starts && text_at(forecast, "/basis") == "unknown")) return "";
  return utc_text(due / 1'000'000) + "; to be missed: the forecast looks " + ahead + " ahead and sees no end";
}

}  // namespace

std::string deadline_in_words(const json& job, const std::string& now) {
  const auto submitted = micros_of(text_at(job, "/submitted_at"));
  const auto within = parse_duration(text_at(job, "/spec/work/deadline"));
  if (!submitted || !within) return "";
  const std::int64_t due = *submitted + within->count_us();
  const auto told = [&](const char* pointer, const std::string& what) -> std::string {
    const std::string moment = text_at(job, pointer);
    const auto when = micros_of(moment);
    if (!when || *when <= due) return "";
    const double late = static_cast<double>(*when - due) * 1e-6;
    return utc_text(due / 1'000'000) + "; " + what + " " + moment_of(moment) + " UTC, " + seconds_in_words(late) +
           " later";
  };
  if (std::string words = told("/finished_at", "missed: the job ended at"); !words.empty()) return words;
  if (text_at(job, "/finished_at").empty() && has_passed(timestamp_text(due / 1'000'000), now)) {
    return utc_text(due / 1'000'000) + "; missed: it has passed, and the job has not ended";
  }
  if (std::string words = told("/forecast/end/expected", "to be missed: the end is expected at about");
      !words.empty()) {
    return words;
  }
  return told_without_end(job.value("forecast", json()), due, now);
}

std::string forecast_cell(const json& forecast, std::string now) {
  if (!forecast.is_object()) return "-";
  if (now.empty()) now = text_at(forecast, "/computed_at");
  for (const std::string what : {"start", "end"}) {
    const std::string at = text_at(forecast, "/" + what + "/expected");
    if (at.empty()) continue;
    const std::string late = text_at(forecast, "/" + what + "/late");
    if (has_passed(late, now)) return "late: " + what + "s " + minute_of(late, now);
    return has_passed(at, now) ? what + "s by " + minute_of(late, now) : what + "s " + minute_of(at, now);
  }
  return "-";
}

namespace {

// What it would do to other jobs, a line each.
std::string affected_jobs(const json& plan, const std::string& beside, const Style& style) {
  const json& changes = list_at(plan, "/changes");
  const auto others = number_at(plan, "/others_changed").value_or(0);
  if (changes.empty() && others == 0) return "\nno other job would be affected\n";
  std::string out = "\nfor it\n";
  int slight = 0;
  for (const json& change : changes) {
    if (is_slight(change)) {
      ++slight;
    } else {
      out += "  " + wrapped("- " + change_in_words(change, beside), 4, {.width = style.width - 2}) + "\n";
    }
  }
  if (slight > 0) out += "  - " + count_of(slight, "job") + " would start or end less than a minute later or sooner\n";
  if (others > 0) out += "  - " + count_of(others, "job") + " of other tenants would be moved or delayed\n";
  return out;
}

}  // namespace

std::string plan_page(const json& plan, const std::string& file, const Style& style) {
  const json forecast = plan.value("forecast", json());
  const std::string beside = text_at(forecast, "/computed_at");
  const std::string never = no_start_in_words(forecast, beside);
  const std::string head =
      printable(text_at(plan, "/name")) + ", submitted now: " +
      (never.empty() ? forecast_in_words(forecast) + budget_in_words(forecast, beside)
                     : never + "; what it would wait for: schedctl submit --dry-run " + printable(file));
  std::string out = bold(wrapped(head, 0, style), style) + "\n";
  if (const std::string unasked = text_at(forecast, "/unasked_policy"); !unasked.empty()) {
    out += wrapped("as " + text_at(plan, "/policy") + " would decide: the policy file " + printable(unasked) +
                       ", which decides here, is not asked for forecasts",
                   0, style) +
           "\n";
  }
  out += "cost: " + cost_in_words(plan) + "\n";
  if (list_at(forecast, "/sizes").size() > 1) {
    out += "\n" + sizes_text(list_at(forecast, "/sizes"), beside, style);
  }
  return out + affected_jobs(plan, beside, style) + "\nnothing was stored; to submit it: schedctl submit " +
         printable(file) + "\n";
}

// How the sentence of a reason begins that holds until nodes, or the job's file, change.
constexpr std::string_view kCannotStart = "cannot start: ";

// A reason to wait often begins with "waits", which is said here already.
std::string why_it_waits(const std::string& summary) {
  const std::string_view said = "waits";
  if (summary.starts_with(kCannotStart)) return "not start: " + summary.substr(kCannotStart.size());
  return "wait" + (summary.starts_with(said) ? summary.substr(said.size()) : ": " + summary);
}

// "it needs 9 slots" as "job-7 needs 9 slots", "each of its workers" as "each of job-7's workers"
std::string why_of(const std::string& id, std::string why) {
  if (why.starts_with("it ")) return why.replace(0, 2, id);
  if (const auto its = (" " + why).find(" its "); its != std::string::npos) why.replace(its, 3, id + "'s");
  return why;
}

// `waiting`: "job-1 waits"
std::string never_starts(const std::string& waiting, const std::string& id, const std::string& why) {
  return waiting + " and cannot start as things are: " + why + "; what would help: schedctl why " + id;
}

// "job-3 waits for 2 slots; none is free", of several "job-3 and 4 more jobs wait: job-3 waits for 2 slots; none is
// free"
std::string wait_in_words(const json& row) {
  const json& jobs = list_at(row, "/jobs");
  const std::string first = jobs.empty() ? "" : jobs.front().get<std::string>();
  const std::string why = text_at(row, "/reason/text");
  const std::size_t others = jobs.empty() ? 0 : jobs.size() - 1;
  const std::string waiting =
      others == 0 ? first + " waits" : first + " and " + count_of(static_cast<double>(others), "more job") + " wait";
  if (why.starts_with(kCannotStart)) {
    const std::string never = why.substr(kCannotStart.size());
    return never_starts(waiting, first, others == 0 ? never : why_of(first, never));
  }
  const std::string wait = why.starts_with("waits") ? first + " " + why : first + " waits: " + why;
  return others == 0 ? wait : waiting + ": " + wait;
}

// What other jobs do for it, and of one that does not get what it asks for what bears that out and would help.
std::string around_decision(const json& decision, bool is_met) {
  std::string text;
  for (const json& change : decision.at("changes")) text += "  " + decided_change(change) + "\n";
  if (is_met) return text;
  const auto add = [&](const char* what, const json& line) {
    text += what + printable(line.get<std::string>()) + "\n";
  };
  for (const json& line : list_at(decision, "/evidence")) add("  evidence: ", line);
  for (const json& line : decision.at("unblocks")) add("  what would help: ", line);
  return text;
}

std::string decision_in_words(const json& job) {
  if (!job.contains("decision")) return "";
  const json& decision = job.at("decision");
  const bool starts = decision.value("starts", false);
  return "submitted now, it would " +
         (starts ? "start at once: " + places_of(decision) : why_it_waits(printable(text_at(decision, "/summary")))) +
         "\n" + around_decision(decision, starts);
}

std::string never_starts_in_words(const json& job) {
  const std::string why = text_at(job, "/reason/text");
  if (text_at(job, "/state") != "pending" || !why.starts_with(kCannotStart)) return "";
  const std::string id = text_at(job, "/id");
  return never_starts(id + " waits", id, why.substr(kCannotStart.size()));
}

std::vector<std::string> batch_waits_in_words(const json& stored) {
  constexpr std::size_t kReasonsMost = 5;
  std::vector<std::string> lines;
  std::size_t jobs_left = 0;
  for (const bool cannot_start : {true, false}) {
    for (const json& row : list_at(stored, "/waits")) {
      if (text_at(row, "/reason/text").starts_with(kCannotStart) != cannot_start) continue;
      if (lines.size() < kReasonsMost) {
        lines.push_back(wait_in_words(row));
      } else {
        jobs_left += list_at(row, "/jobs").size();
      }
    }
  }
  if (jobs_left > 0) {
    lines.push_back(count_of(static_cast<double>(jobs_left), "more job") + (jobs_left == 1 ? " waits" : " wait") +
                    " for other reasons: schedctl ls --state pending");
  }
  return lines;
}

std::string resize_in_words(const json& job) {
  if (!job.contains("decision")) return "";
  const json& decision = job.at("decision");
  const bool begins = decision.value("starts", false);
  const std::string why = printable(text_at(decision, "/summary"));
  return (begins ? "resized now, it would go to " + workers(decision.at("size")) + " at once: " + why
                 : "resized now, its size would not change at once (" + why + ")") +
         "\n" + around_decision(decision, begins);
}

}  // namespace tidepool::ctl
