#include "schedctl/pages.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <map>
#include <sstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.hpp"
#include "schedctl/forecast_words.hpp"
#include "schedctl/tables.hpp"

namespace tidepool::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kLabelWidth = 12;

std::string labelled(const std::string& label, const std::string& value, const Style& style) {
  const Style narrow{.width = style.width - static_cast<int>(kLabelWidth)};
  std::string text = wrapped(printable(value), 0, narrow);
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1 + kLabelWidth)) {
    text.insert(at + 1, std::string(kLabelWidth, ' '));
  }
  std::string head = label;
  head.resize(kLabelWidth, ' ');
  return dim(head, style) + text + "\n";
}

std::string bullets(const json& lines, const Style& style) {
  const Style narrow{.width = style.width - 2};
  std::string out;
  for (const auto& line : lines) {
    if (line.is_string()) out += "  " + wrapped("- " + printable(line.get<std::string>()), 4, narrow) + "\n";
  }
  return out;
}

std::string progress_words(const json& job) {
  const auto step = number_at(job, "/progress/step").value_or(0);
  const auto total = number_at(job, "/progress/steps_total");
  const bool has_run = !text_at(job, "/started_at").empty();
  if (step == 0 && has_run && text_at(job, "/spec/run/resize") == "restart") {
    return "not told by its program" + (total ? ", which has " + count_of(*total, "step") + " in all" : "");
  }
  std::string words = "step " + whole(step) + (total ? " of " + whole(*total) : "");
  if (const auto fraction = number_at(job, "/progress/fraction")) words += " (" + percent(*fraction) + ")";
  if (const auto now = number_at(job, "/progress/loss")) {
    const auto first = number_at(job, "/progress/first_loss");
    words += ", loss " + (first ? loss(first) + " -> " : "") + loss(now);
  }
  const auto pace = number_at(job, "/progress/samples_per_second");
  if (pace && *pace > 0) words += ", " + rate(pace) + " samples/s";
  return words;
}

std::string noise_words(const json& job) {
  const auto noise = number_at(job, "/progress/noise_scale");
  if (!noise) return "";
  const auto efficiency = number_at(job, "/progress/statistical_efficiency");
  return "gradient noise scale " + rate(noise) + " samples" +
         (efficiency ? ", statistical efficiency " + percent(*efficiency) : "");
}

std::string cost_words(const json& job) {
  std::string words = money(text_at(job, "/cost/amount", "0"), text_at(job, "/cost/currency"));
  if (const auto held = number_at(job, "/cost/slot_seconds")) words += " for " + quantity(*held) + " slot-seconds";
  const std::string hourly = text_at(job, "/cost/per_hour");
  const bool holds_slots = number_at(job, "/size").value_or(0) > 0;
  return holds_slots && !hourly.empty() ? words + ", now " + hourly + " an hour" : words;
}

std::string size_words(const json& job) {
  const auto size = number_at(job, "/size").value_or(0);
  const auto target = number_at(job, "/target_size").value_or(size);
  std::string words = count_of(size, "worker");
  if (target != size) words += ", changing to " + whole(target);
  words += " (min " + whole(number_at(job, "/min").value_or(1)) + ", max " + whole(number_at(job, "/max").value_or(1));
  if (const auto pinned = number_at(job, "/pinned_size")) words += ", pinned to " + whole(*pinned);
  return words + "), generation " + whole(number_at(job, "/generation").value_or(0));
}

// Three significant digits: 0.01234 -> "0.0123".
std::string short_number(double number) {
  std::ostringstream out;
  out << std::setprecision(3) << number;
  return out.str();
}

// "price 0.8, worth 1.21"; empty if the reason has no numbers.
std::string numbers_text(const json& reason) {
  std::string out;
  const json numbers = reason.value("numbers", json::object());
  for (const auto& [name, value] : numbers.items()) {
    if (value.is_number()) out += (out.empty() ? "" : ", ") + name + " " + short_number(value.get<double>());
  }
  return out;
}

// Of a size that lost the reason says how the job would leave it: of 2 workers "growing 2 -> 3: it gains in utility" is
// "it would grow to 3: it gains in utility".
std::string leaving_text(const std::string& why, double size) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kVerbs = {
      {{"growing ", "it would grow to "}, {"shrinking ", "it would shrink to "}}};
  for (const auto& [verb, would] : kVerbs) {
    const std::string begin = std::string(verb) + whole(size) + " -> ";
    if (why.starts_with(begin)) return std::string(would) + why.substr(begin.size());
  }
  return why;
}

// "2 workers: growing 1 -> 2: ..."; with numbers "2 workers (score 1.9; price 0.8, worth 1.21): ...". A policy that
// gives no scores gives 0.
std::string weighed_text(const json& weighed, Detail detail) {
  const auto size = number_at(weighed, "/size");
  const double score = number_at(weighed, "/score").value_or(0);
  const std::string why = leaving_text(text_at(weighed, "/reason/text"), size.value_or(0));
  std::string numbers;
  if (detail == Detail::kNumbers) {
    numbers = numbers_text(weighed.value("reason", json::object()));
    if (score != 0) numbers = "score " + short_number(score) + (numbers.empty() ? "" : "; ") + numbers;
  }
  return (!size        ? "another size"
          : *size == 0 ? "no slots"
                       : count_of(*size, "worker")) +
         (numbers.empty() ? "" : " (" + numbers + ")") +
         (why.empty() ? " (" + text_at(weighed, "/reason/code") + ")" : ": " + why);
}

// Policies that only order jobs weigh a size against none, and give both a reason of the one that won: of none it says
// nothing.
bool says_nothing(const json& alternative, const json& explanation) {
  const std::string code = text_at(alternative, "/reason/code");
  const bool is_winners =
      code == text_at(explanation, "/reason/code") || code == text_at(explanation, "/chosen/reason/code");
  const bool is_of_a_size = number_at(alternative, "/reason/numbers/to").value_or(0) > 0;
  return number_at(alternative, "/size") == 0 && (is_winners || is_of_a_size);
}

// Of the verdict itself, with the code by which programs know it.
std::string numbers_section(const json& explanation, const Style& style) {
  const json reason = explanation.value("reason", json::object());
  const std::string numbers = numbers_text(reason);
  return bullets(json::array({text_at(reason, "/code") + (numbers.empty() ? "" : ": " + numbers)}), style);
}

// A line for each finding, with the line of the file where it is known, from the top of the file down.
std::string findings_text(const json& problem, const ProblemSource& source) {
  std::multimap<int, std::string> findings;  // by their lines
  for (const auto& finding : list_at(problem, "/errors")) {
    const std::string pointer = text_at(finding, "/pointer");
    const int line = source.lines == nullptr ? 0 : source.lines->line_of(pointer);
    std::string text = "\n  ";
    if (!source.file.empty()) text += source.file + (line > 0 ? ":" + std::to_string(line) : "") + ": ";
    text += printable((pointer.empty() ? "" : pointer + ": ") + text_at(finding, "/message"));
    findings.emplace(line, std::move(text));
  }
  std::string out;
  for (const auto& [line, text] : findings) out += text;
  return out;
}

// A hint names requests of the API; where a command asks the same, people are told that.
std::string hint_in_commands(std::string hint) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kCommands = {
      {{"GET /v1/jobs ", "schedctl ls "},
       {"GET /v1/nodes ", "schedctl nodes "},
       {"GET /v1/tenants ", "schedctl tenants "},
       {"GET /v1/decisions ", "schedctl decisions "},
       {"GET /v1/maintenance ", "schedctl maintenance ls "},
       {"GET /v1/tokens ", "schedctl token ls "}}};
  for (const auto& [request, command] : kCommands) {
    if (const std::size_t at = hint.find(request); at != std::string::npos) hint.replace(at, request.size(), command);
  }
  return hint;
}

// The findings of each refused entry; of one without findings what is wrong with the whole of it.
std::string refused_text(const json& problem, const ProblemSource& source) {
  std::string out;
  for (const auto& refused : list_at(problem, "/refused")) {
    const auto index = static_cast<std::size_t>(number_at(refused, "/index").value_or(0));
    const ProblemSource entry = index < source.entries.size() ? source.entries[index] : ProblemSource();
    const std::string findings = findings_text(refused.value("problem", json::object()), entry);
    out += findings.empty() ? "\n  " + entry.file + ": " + printable(text_at(refused, "/problem/detail")) : findings;
  }
  return out;
}

// "elastic.cooldown 1m (vision), priority 5 (lab)": what the job file left out and a tenant's default has filled.
std::string defaults_words(const json& job) {
  std::string words;
  const json from = job.value("defaults_from", json::object());
  for (const auto& [field, tenant] : from.items()) {
    std::string pointer = "/spec/" + field;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    const json value = job.value(json::json_pointer(pointer), json());
    words += (words.empty() ? "" : ", ") + field + " " + (value.is_string() ? value.get<std::string>() : value.dump()) +
             " (" + tenant.get<std::string>() + ")";
  }
  return words;
}

// "2026-11-20 21:50:02 to 21:53:20 UTC (3m 18s): waits for 2 slots"
json waits_in_words(const json& explanation) {
  json lines = json::array();
  for (const auto& wait : list_at(explanation, "/waits")) {
    const std::string from = text_at(wait, "/from");
    const std::string until = text_at(wait, "/until");
    const auto begin = micros_of(from);
    const auto end = micros_of(until);
    std::string line = moment_of(from) + (until.empty() ? " UTC until now" : " to ");
    const bool same_day = from.substr(0, from.find('T')) == until.substr(0, until.find('T'));
    if (!until.empty()) line += (same_day ? clock_of(until) : moment_of(until)) + " UTC";
    if (begin && end) line += " (" + seconds_in_words(static_cast<double>(*end - *begin) * 1e-6) + ")";
    lines.push_back(line + ": " + text_at(wait, "/reason/text"));
  }
  return lines;
}

std::string saved_words(const json& job) {
  const json& saved = job.value("saved_state", json());
  if (!saved.is_object()) return "";
  return "step " + integer_at(saved, "/step") + " at " + moment_of(text_at(saved, "/at")) + " UTC on " +
         text_at(saved, "/node_name", text_at(saved, "/node"));
}

std::string failed_checkpoint_words(const json& job) {
  const json& failure = job.value("checkpoint_failure", json());
  if (!failure.is_object()) return "";
  const double times = number_at(failure, "/times").value_or(1);
  return "failed at step " + integer_at(failure, "/step") + (times > 1 ? ", " + whole(times) + " in a row" : "") +
         ": " + text_at(failure, "/error");
}

// "is running", "failed"
std::string verb_of(const std::string& state) {
  if (state == "succeeded" || state == "failed") return state;
  return (state == "cancelled" ? "was " : "is ") + state;
}

}  // namespace

std::string job_page(const json& job, const json& workers, const Style& style) {
  const std::string state = text_at(job, "/state");
  std::string out = bold(printable(text_at(job, "/name")), style) + "  " + text_at(job, "/id") + "  " +
                    coloured_state(state, state, style) + "\n";
  const auto add = [&](const std::string& label, const std::string& value) {
    if (!value.empty()) out += labelled(label, value, style);
  };
  add("tenant", text_at(job, "/tenant"));
  add("why", text_at(job, "/reason/text"));
  add(state == "failed" ? "error" : "last loss", text_at(job, "/error"));
  add("saved", saved_words(job));
  add("checkpoint", failed_checkpoint_words(job));
  add("forecast", job_forecast_in_words(job.value("forecast", json()), state, style.now));
  add("deadline", deadline_in_words(job, style.now));
  add("size", size_words(job));
  add("progress", progress_words(job));
  if (const auto batch = number_at(job, "/progress/global_batch")) add("batch", whole(*batch) + " samples per step");
  add("noise", noise_words(job));
  add("cost", cost_words(job));
  add("defaults", defaults_words(job));
  for (const std::string what : {"submitted", "started", "finished"}) {
    const std::string at = text_at(job, "/" + what + "_at");
    add(what, at.empty() ? "" : moment_of(at) + " UTC");
  }
  if (job.contains("labels") && job.at("labels").is_object()) {
    std::string labels;
    for (const auto& [name, value] : job.at("labels").items()) {
      labels +=
          (labels.empty() ? "" : ", ") + name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    add("labels", labels);
  }
  if (!list_at(job, "/sizes").empty()) out += "\n" + sizes_table(list_at(job, "/sizes"), 0, style);
  if (workers.is_array() && !workers.empty()) out += "\n" + workers_table(workers, style);
  return out;
}

std::string why_page(const json& explanation, const Style& style, Detail detail) {
  const std::string state = text_at(explanation, "/state");
  std::string summary = text_at(explanation, "/summary");
  if (summary.starts_with(state + ": ")) summary.erase(0, state.size() + 2);
  std::string out =
      bold(wrapped(printable(text_at(explanation, "/job") + " " + verb_of(state) + ": " + summary), 0, style), style) +
      "\n";
  const auto section = [&](const char* title, const std::string& body) {
    if (!body.empty()) out += "\n" + std::string(title) + "\n" + body;
  };
  if (const std::string forecast =
          job_forecast_in_words(explanation.value("forecast", json()), text_at(explanation, "/state"), style.now);
      !forecast.empty()) {
    out += wrapped(printable(forecast), 0, style) + "\n";
  }
  if (detail == Detail::kNumbers) section("Numbers", numbers_section(explanation, style));
  section("Evidence", bullets(list_at(explanation, "/evidence"), style));
  const json chosen = explanation.value("chosen", json());
  const bool news = chosen.is_object() && text_at(chosen, "/reason/text") != text_at(explanation, "/summary");
  if (news) section("Its policy wants", bullets(json::array({weighed_text(chosen, detail)}), style));
  json others = json::array();
  for (const auto& alternative : list_at(explanation, "/alternatives")) {
    if (!says_nothing(alternative, explanation)) others.push_back(weighed_text(alternative, detail));
  }
  section("Considered and not taken", bullets(others, style));
  section("Goes first", bullets(list_at(explanation, "/ahead"), style));
  section("What would change it", bullets(list_at(explanation, "/unblocks"), style));
  section("Waited", bullets(waits_in_words(explanation), style));
  return out;
}

std::string problem_text(const json& problem, const ProblemSource& source) {
  std::string out = printable(text_at(problem, "/title", "the daemon refused"));
  const std::string detail = text_at(problem, "/detail");
  const json& findings = list_at(problem, "/errors");
  const bool is_told_twice = findings.size() == 1 && text_at(findings.front(), "/message") == detail;
  const bool in_file = !source.file.empty();  // then the finding has its line, too
  const bool tells_detail = !detail.empty() && detail != text_at(problem, "/title") && !(is_told_twice && in_file);
  if (tells_detail) out += ": " + printable(detail);
  if (!list_at(problem, "/refused").empty()) {
    out += refused_text(problem, source);
  } else if (!is_told_twice || in_file) {
    out += findings_text(problem, source);
  }
  const std::string hint = hint_in_commands(text_at(problem, "/hint"));
  if (!hint.empty()) out += "\nhint: " + printable(hint);
  return out;
}

}  // namespace tidepool::ctl
