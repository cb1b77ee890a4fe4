#include "policies/host/answers.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.hpp"
#include "core/codec/policy_words.hpp"
#include "policies/cluster/queue_grants.hpp"

namespace tidepool::policies::host {
namespace {

constexpr int kMarkMax = 1'000'000;
constexpr std::size_t kNoJob = std::numeric_limits<std::size_t>::max();  // as a row: of no job in particular

// A fixed field as text: up to its first 0, printable characters only.
template <std::size_t kBytes>
std::string text_of(const char (&field)[kBytes]) {
  std::string text(field, strnlen(field, kBytes));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return text;
}

template <class T>
T read_at(const std::vector<std::byte>& region, std::uint64_t offset) {
  T value;
  std::memcpy(&value, region.data() + offset, sizeof value);
  return value;
}

bool is_word(const std::string& text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string shown(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Reads one region; stops at the first fault.
class Reader {
 public:
  Reader(const cluster::View& view, const std::vector<std::byte>& region)
      : view_(view), region_(region), layout_(layout_of(view)) {}

  Judged read() {
    const auto header = read_at<AnswersHeader>(region_, 0);
    answers_.instructions = header.instructions;
    answers_.memory_peak = header.memory_peak;
    using Step = bool (Reader::*)();
    const std::pair<Hook, Step> steps[] = {{kAdmit, &Reader::admit}, {kOrder, &Reader::order},
                                           {kSizes, &Reader::sizes}, {kMarks, &Reader::marks},
                                           {kShare, &Reader::share}, {kProvision, &Reader::provision}};
    for (const auto& [hook, step] : steps) {
      if ((header.hooks & hook) != 0 && !(this->*step)()) return fault_;
    }
    if (!why(header.why_set != 0)) return fault_;
    return std::move(answers_);
  }

 private:
  bool fail(std::string_view code, const char* hook, std::size_t row, const std::string& message) {
    fault_ = {.code = code, .message = message, .hook = hook};
    if (row < view_.jobs.size()) fault_.job = view_.jobs[row].id;
    return false;
  }

  // The number for `row` at `offset`, if it is one.
  bool number(const char* hook, std::uint64_t offset, std::size_t row, double& value) {
    value = read_at<double>(region_, offset + 8 * row);
    if (value == kUnset) return fail("policy.missing_answer", hook, row, "the job has no answer");
    if (!std::isfinite(value)) {
      return fail("policy.invalid_number", hook, row, shown(value) + " is not a finite number");
    }
    return true;
  }

  bool admit() {
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      double value = 0;
      if (!number("admit", layout_.admit, row, value)) return false;
      if (value != 0 && value != 1) {
        return fail("policy.invalid_number", "admit", row, shown(value) + " is neither 1 (may run) nor 0");
      }
      answers_.admitted.push_back(value == 1);
    }
    return true;
  }

  bool order() {
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      if (!number("order", layout_.order, row, answers_.rank.emplace_back())) return false;
    }
    return true;
  }

  bool sizes() {
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      double value = 0;
      if (!number("size", layout_.sizes, row, value)) return false;
      const cluster::JobRow& job = view_.jobs[row];
      const bool whole = value >= 0 && value <= job.size_max && std::trunc(value) == value;
      if (!whole || (value != 0 && !may_have(job, static_cast<int>(value)))) {
        fail("policy.invalid_size", "size", row,
             shown(value) + " is not a size that it may take: 0, or " + std::to_string(job.size_min) + " to " +
                 std::to_string(job.size_max) + (job.sizes.empty() ? "" : " among those that view.sizes lists"));
        fault_.numbers = {{"size", value}, {"min", double(job.size_min)}, {"max", double(job.size_max)}};
        return false;
      }
      answers_.sizes.push_back(static_cast<int>(value));
    }
    return true;
  }

  bool marks() {
    for (std::size_t row = 0; row < view_.jobs.size(); ++row) {
      const auto value = read_at<double>(region_, layout_.marks + 8 * row);
      std::optional<int>& mark = answers_.marks.emplace_back();
      if (value == kUnset) continue;
      if (!(value >= 0 && value <= kMarkMax && std::trunc(value) == value)) {
        return fail("policy.invalid_number", "marks", row,
                    "a mark is a whole number from 0 to " + std::to_string(kMarkMax) + ", not " + shown(value));
      }
      mark = static_cast<int>(value);
    }
    return true;
  }

  bool share() {
    for (std::size_t row = 0; row < view_.tenants.size(); ++row) {
      const auto value = read_at<double>(region_, layout_.share + 8 * row);
      std::optional<int>& claim = answers_.claims.emplace_back();
      const std::string& tenant = view_.tenants[row].name;
      if (value == kUnset) return fail("policy.missing_answer", "share", kNoJob, "tenant " + tenant + " has no answer");
      if (std::isnan(value)) continue;
      if (!(value >= 0 && value <= kClaimMax)) {
        return fail("policy.invalid_number", "share", kNoJob,
                    "what tenant " + tenant + " should have beyond its guarantee is a number from 0 to " +
                        std::to_string(kClaimMax) + ", not " + shown(value));
      }
      claim = static_cast<int>(value);
    }
    return true;
  }

  bool provision() {
    for (std::size_t row = 0; row < view_.pools.size(); ++row) {
      const auto value = read_at<double>(region_, layout_.provision + 8 * row);
      std::optional<int>& nodes = answers_.nodes.emplace_back();
      const cluster::PoolRow& pool = view_.pools[row];
      if (value == kUnset) {
        return fail("policy.missing_answer", "provision", kNoJob, "pool " + pool.name + " has no answer");
      }
      if (std::isnan(value)) continue;
      if (!std::isfinite(value)) {
        return fail("policy.invalid_number", "provision", kNoJob,
                    shown(value) + " is no number of nodes for pool " + pool.name);
      }
      if (!(value >= pool.min && value <= pool.max && std::trunc(value) == value)) {
        fail("policy.invalid_nodes", "provision", kNoJob,
             shown(value) + " is not a number of nodes that pool " + pool.name + " may have: a whole one from " +
                 std::to_string(pool.min) + " to " + std::to_string(pool.max));
        fault_.numbers = {{"nodes", value}, {"min", double(pool.min)}, {"max", double(pool.max)}};
        return false;
      }
      nodes = static_cast<int>(value);
    }
    return true;
  }

  // `hook` and `row` are for the fault.
  bool said(const WhyRecord& record, const char* hook, std::size_t row, FileReason& said) {
    said.code = text_of(record.code);
    if (said.code.empty()) return true;
    if (!is_word(said.code)) {
      return fail("policy.invalid_reason", hook, row, "\"" + said.code + "\" is not a word of letters and digits");
    }
    if (record.count > kNumbersMax) {
      return fail("policy.invalid_reason", hook, row,
                  said.code + " has " + std::to_string(record.count) + " numbers; at most " +
                      std::to_string(kNumbersMax) + " are kept");
    }
    for (std::uint32_t i = 0; i < record.count; ++i) {
      const std::string name = text_of(record.numbers[i].name);
      if (!is_word(name) || !std::isfinite(record.numbers[i].value)) {
        return fail("policy.invalid_reason", hook, row,
                    "\"" + name + "\" of " + said.code + " is not a name with a finite number");
      }
      said.numbers.push_back({name, record.numbers[i].value});
    }
    const auto by_name = [](const core::ReasonNumber& a, const core::ReasonNumber& b) { return a.name < b.name; };
    std::sort(said.numbers.begin(), said.numbers.end(), by_name);
    const auto twice = std::adjacent_find(said.numbers.begin(), said.numbers.end(),
                                          [](const auto& a, const auto& b) { return a.name == b.name; });
    if (twice == said.numbers.end()) return true;
    return fail("policy.invalid_reason", hook, row, said.code + " has two numbers called " + twice->name);
  }

  bool why(bool any) {
    answers_.why.resize(view_.jobs.size());
    answers_.why_nodes.resize(view_.pools.size());
    for (std::size_t row = 0; any && row < view_.jobs.size(); ++row) {
      const auto record = read_at<WhyRecord>(region_, layout_.why + sizeof(WhyRecord) * row);
      if (!said(record, "", row, answers_.why[row])) return false;
    }
    for (std::size_t row = 0; any && row < view_.pools.size(); ++row) {
      const auto record = read_at<WhyRecord>(region_, layout_.why_pool + sizeof(WhyRecord) * row);
      if (!said(record, "provision", kNoJob, answers_.why_nodes[row])) return false;
    }
    return true;
  }

  const cluster::View& view_;
  const std::vector<std::byte>& region_;
  AnswersLayout layout_;
  Answers answers_;
  PolicyFault fault_;
};

// What the job has whatever the policy says: all it holds while that cannot change, its smallest size once it has
// started if it may not be preempted.
int sure_of(const cluster::JobRow& job) {
  const int held = size_of(job.placement);
  if (job.resize_blocked) return held;
  return job.preemptible ? 0 : std::min(held, job.size_min);
}

core::Reason reason_of(const cluster::JobRow& job, int wanted, int size, int free) {
  namespace reason = core::reason;
  // It would start with fewer than its policy gives it.
  if (size == 0 && wanted > 0) return reason::WaitingForSlots{.needed = job.size_min, .free = free};
  const int held = size_of(job.placement);
  if (size == 0) return reason::FixedSize{{.size = size}};
  if (size == held && size != wanted) {
    if (job.resize_blocked) return reason::PriceHold{{.size = size}};
    if (size > wanted) return reason::AtMin{{.size = size}};
    return reason::NoSlotsToGrow{.wanted = wanted - size, .free = std::max(0, free - size)};
  }
  if (size == held) return reason::FixedSize{{.size = size}};
  if (held == 0) return reason::Started{{.size = size}};
  return reason::BackToSize{{.from = held, .to = size}};
}

// What the file says of the job; a built-in reason that it names takes the size from the grant.
core::Reason reason_by_file(const cluster::JobRow& job, const cluster::Grant& grant, const FileReason& said) {
  const bool keeps = !said.code.empty() && grant.size > 0 && grant.size == size_of(job.placement);
  const core::Reason built_in = keeps ? core::Reason(core::reason::FixedSize{{.size = grant.size}}) : grant.reason;
  return core::reason_of_policy(said.code, said.numbers, built_in);
}

}  // namespace

AnswersLayout layout_of(const cluster::View& view) {
  return {static_cast<std::uint32_t>(view.jobs.size()), static_cast<std::uint32_t>(view.tenants.size()),
          static_cast<std::uint32_t>(view.pools.size())};
}

Judged read_answers(const cluster::View& view, const std::vector<std::byte>& region) {
  if (region.size() < layout_of(view).end) {
    return PolicyFault{.code = "policy.bad_reply", .message = "the answers are shorter than the view"};
  }
  return Reader(view, region).read();
}

PolicyFault read_fault(const cluster::View& view, const AnswersHeader& header) {
  const auto code = find_fault(text_of(header.code));
  if (!code) return {.code = "policy.bad_reply", .message = "the host reported a failure that has no name"};
  PolicyFault fault{.code = *code, .message = text_of(header.message), .hook = text_of(header.hook)};
  const std::int64_t row = header.row;
  if (row >= 0 && static_cast<std::uint64_t>(row) < view.jobs.size()) {
    fault.job = view.jobs[static_cast<std::size_t>(row)].id;
  }
  return fault;
}

cluster::Allocation standard_for(const cluster::View& view, const Answers& answers,
                                 const cluster::AllocationPolicy& policy, core::StepBudget& budget) {
  if (!answers.rank.empty() && !answers.sizes.empty()) return {};
  cluster::View admitted = view;
  admitted.jobs.clear();
  std::vector<std::size_t> rows;
  std::vector<std::size_t> others;
  for (std::size_t row = 0; row < view.jobs.size(); ++row) {
    const bool may_run = answers.admitted.empty() || answers.admitted[row];
    (may_run ? rows : others).push_back(row);
    if (may_run) admitted.jobs.push_back(view.jobs[row]);
  }
  cluster::Allocation part = policy.allocate(admitted, budget);
  cluster::Allocation standard{.grants = std::vector<cluster::Grant>(view.jobs.size()), .order = {}};
  for (const std::size_t i : part.order) standard.order.push_back(rows[i]);
  standard.order.insert(standard.order.end(), others.begin(), others.end());
  for (std::size_t i = 0; i < rows.size(); ++i) standard.grants[rows[i]] = std::move(part.grants[i]);
  return standard;
}

cluster::Allocation allocate(const cluster::View& view, const Answers& answers, const cluster::Allocation& standard) {
  const bool whole = !answers.rank.empty() && !answers.sizes.empty();
  TP_CHECK(view.jobs.empty() || whole || !standard.grants.empty(), "a stage that is left out has a stand-in");
  cluster::Allocation allocation{.grants = std::vector<cluster::Grant>(view.jobs.size()),
                                 .order = answers.rank.empty() ? standard.order : cluster::rows_by(answers.rank),
                                 .mark = view.mark};
  int free = view.slots();
  for (const cluster::JobRow& job : view.jobs) free -= sure_of(job);
  int left = view.slots();  // of a tenant's part, which may be less than its jobs hold: they give it up when they can
  for (const std::size_t row : allocation.order) {
    const cluster::JobRow& job = view.jobs[row];
    cluster::Grant& grant = allocation.grants[row];
    const bool admitted = answers.admitted.empty() || answers.admitted[row];
    const cluster::Grant* stand_in = admitted && answers.sizes.empty() ? &standard.grants[row] : nullptr;
    int wanted = !admitted ? 0 : stand_in != nullptr ? stand_in->size : answers.sizes[row];
    if (job.pinned > 0) wanted = job.pinned;
    const int sure = sure_of(job);
    const int room = std::max(free, 0) + sure;
    grant.size = job.resize_blocked ? sure : std::max(sure, largest_size(job, std::min(wanted, room)));
    if (grant.size > left) grant.size = largest_size(job, left);
    left -= grant.size;
    grant.reason = reason_of(job, wanted, grant.size, room);
    if (stand_in != nullptr && stand_in->size == grant.size) {
      grant.reason = stand_in->reason;
      grant.score = stand_in->score;
      grant.lost = stand_in->lost;
    }
    if (!answers.why.empty()) grant.reason = reason_by_file(job, grant, answers.why[row]);
    grant.mark = job.mark;
    if (!answers.marks.empty() && answers.marks[row] && *answers.marks[row] != job.mark.level) {
      grant.mark.level = *answers.marks[row];
      grant.mark.since = view.now;
    }
    free -= grant.size - sure;
  }
  return allocation;
}

}  // namespace tidepool::policies::host
