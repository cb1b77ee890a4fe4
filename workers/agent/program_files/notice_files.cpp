#include "workers/agent/program_files/notice_files.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/json.hpp"
#include "base/utf8.hpp"
#include "workers/agent/program_files/newest_line.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

constexpr auto kLookEvery = std::chrono::milliseconds(200);
constexpr std::size_t kAnswersBytesMost = 16'384;
constexpr std::int64_t kNeedsMostMs = 86'400'000;
constexpr JsonLimits kLineLimits{.bytes_max = 4'096, .depth_max = 4, .values_max = 16};

std::int64_t unix_ms_now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

// The decision of the last notice that the program received; empty: none.
std::string decision_in(const fs::path& folder) {
  const auto told = parse_json(newest_line(NoticeFiles::notice_in(folder), kAnswersBytesMost));
  if (!told || !told->is_object()) return {};
  const auto decision = told->find("decision");
  return decision != told->end() && decision->is_string() ? decision->get<std::string>() : "";
}

}  // namespace

Result<WrittenAnswer> answer_of_line(const std::string& line) {
  const auto parsed = parse_json(line, kLineLimits);
  if (!parsed) return parsed.error();
  std::vector<FieldError> errors;
  ObjectReader in(*parsed, "", errors);
  const std::string word = in.required_text("answer");
  WrittenAnswer written;
  const auto answer = api::notice_answer_of(word);
  if (!answer && !word.empty()) in.fail("answer", "Invalid", "must be saving, done, until or refuse");
  written.answer = answer.value_or(api::NoticeAnswer::kSaving);
  if (written.answer == api::NoticeAnswer::kUntil) {
    written.until_unix_ms = in.required_integer("until_unix_ms", {.low = 1, .high = INT64_MAX / 2});
  }
  in.finish();
  if (!errors.empty()) return invalid_argument(errors.front().pointer + " " + errors.front().message);
  return written;
}

NoticeFiles::NoticeFiles(boost::asio::io_context& io, Handlers handlers)
    : handlers_(std::move(handlers)),
      answers_(io, {.every = kLookEvery, .bytes_max = kAnswersBytesMost},
               [this](WorkerId worker, std::string_view lines) { hear(worker, std::string(take_last_line(lines))); }) {}

fs::path NoticeFiles::notice_in(const fs::path& folder) {
  return folder / "notice.json";
}

fs::path NoticeFiles::answer_in(const fs::path& folder) {
  return folder / "answer.jsonl";
}

void NoticeFiles::tell(WorkerId worker, const fs::path& folder, const api::NoticeMessage& notice) {
  ToldNotice& told = told_[worker];
  if (told.decision != notice.decision) {
    std::error_code ignored;
    // Removes an answer to an earlier notice; an answer to this one may have come while the agent restarted.
    if (decision_in(folder) != notice.decision.text()) fs::remove(answer_in(folder), ignored);
    told = {.decision = notice.decision, .answers = 0, .read = {}};
    answers_.watch(worker, answer_in(folder));
  }
  told.answers = std::max(told.answers, notice.answers);
  const nlohmann::json document = {{"decision", notice.decision.text()}, {"reason", notice.reason},
                                   {"sentence", notice.sentence},        {"by_unix_ms", unix_ms_now() + notice.in_ms},
                                   {"extended_ms", notice.extended_ms},  {"answers", notice.answers},
                                   {"granted", notice.granted}};
  const Status written = replace_file(notice_in(folder), canonical_json(document) + "\n");
  if (!written.ok()) handlers_.on_trouble(worker, "no notice for " + worker.text() + ": " + written.error().message);
}

void NoticeFiles::forget(WorkerId worker, const fs::path& folder) {
  told_.erase(worker);
  answers_.forget(worker);
  std::error_code ignored;
  fs::remove(notice_in(folder), ignored);
  fs::remove(answer_in(folder), ignored);
}

void NoticeFiles::hear(WorkerId worker, const std::string& line) {
  ToldNotice& told = told_.at(worker);
  if (line.empty() || line == told.read) return;
  told.read = line;
  const auto written = answer_of_line(line);
  if (!written) {
    return handlers_.on_bad_answer(worker, "what " + worker.text() + " wrote in its answer file is no answer: " +
                                               cut_to(written.error().message, kToldOfLine) +
                                               R"(; write a line such as {"answer": "saving"})");
  }
  const std::int64_t needs = std::clamp<std::int64_t>(written->until_unix_ms - unix_ms_now(), 0, kNeedsMostMs);
  handlers_.on_answer(worker, {.decision = told.decision,
                               .number = ++told.answers,
                               .answer = written->answer,
                               .needs_ms = written->answer == api::NoticeAnswer::kUntil ? needs : 0});
}

}  // namespace tidepool::agent
