#include "core/codec/reason_numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/codec/policy_words.hpp"
#include "core/state/measured/straggler_diagnosis.hpp"
#include "core/state/reason_read.hpp"

namespace tidepool::core {
namespace {

struct MeasureName {
  Measure measure;
  std::string_view word;
};
constexpr std::array kMeasures = {
    MeasureName{Measure::kArrival, "arrival"},      MeasureName{Measure::kService, "service"},
    MeasureName{Measure::kTimeLeft, "time_left"},   MeasureName{Measure::kQueue, "queue"},
    MeasureName{Measure::kIndex, "gittins_index"},  MeasureName{Measure::kDeadline, "deadline"},
    MeasureName{Measure::kTimeShare, "time_share"}, MeasureName{Measure::kSlices, "slices"},
    MeasureName{Measure::kRounds, "rounds"},        MeasureName{Measure::kLease, "lease"},
    MeasureName{Measure::kSpeedup, "speedup"},      MeasureName{Measure::kShortening, "shortening"},
    MeasureName{Measure::kTimeSaved, "time_saved"}, MeasureName{Measure::kFairness, "fairness"},
    MeasureName{Measure::kGoodput, "goodput"},      MeasureName{Measure::kFitness, "fitness"},
    MeasureName{Measure::kPromise, "promise"},
};

bool is_of_turns(Measure measure) {
  return measure >= Measure::kArrival && measure <= Measure::kLease;
}

template <class T>
constexpr bool kHasFields = requires(T& value) { T::fields(value, [](const char*, auto&, unsigned = 0) {}); };

template <class T>
double to_number(const T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_same_v<T, Duration>) {
    return value.to_seconds();
  } else if constexpr (std::is_same_v<T, Money>) {
    return value.to_units();
  } else {
    return static_cast<double>(value.number());
  }
}

// Whole numbers out of the type's range, and values that are not numbers, become the nearest value in range.
template <class N>
N whole(double value) {
  if (std::isnan(value)) return 0;
  constexpr auto kLeast = static_cast<double>(std::numeric_limits<N>::min());
  constexpr auto kMost = static_cast<double>(std::numeric_limits<N>::max());
  if (value <= kLeast) return std::numeric_limits<N>::min();
  return value >= kMost ? std::numeric_limits<N>::max() : static_cast<N>(std::llround(value));
}

template <class T>
T from_number(double value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value > 0;
  } else if constexpr (std::is_same_v<T, double>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return whole<T>(value);
  } else if constexpr (std::is_same_v<T, Follows>) {
    return static_cast<Follows>(std::clamp(whole<int>(value), 0, static_cast<int>(Follows::kData)));
  } else if constexpr (std::is_same_v<T, Duration>) {
    return Duration::micros(whole<std::int64_t>(value * 1e6));
  } else if constexpr (std::is_same_v<T, Money>) {
    return Money::micros(whole<std::int64_t>(value * 1e6));
  } else {
    return T(static_cast<std::uint64_t>(std::max<std::int64_t>(0, whole<std::int64_t>(value))));
  }
}

class Writer {
 public:
  template <class T>
  void operator()(const char* name, const T& value, unsigned = reason::kPlain) {
    if constexpr (kHasFields<T>) {
      T::fields(value, *this);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (value) numbers.push_back({name, 1});
    } else {
      numbers.push_back({name, to_number(value)});
    }
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value, unsigned = reason::kPlain) {
    if (!value) return;
    if constexpr (kHasFields<T>) {
      T::fields(*value, *this);
    } else {
      numbers.push_back({name, to_number(*value)});
    }
  }
  void operator()(const char*, const reason::Judgement& by, unsigned = reason::kPlain) {
    std::visit(
        [&]<class By>(const By& any) {
          if constexpr (!std::is_same_v<By, std::monostate>) By::fields(any, *this);
        },
        by);
  }

  std::vector<ReasonNumber> numbers;
};

// Which numbers of a kind of reason are ids of jobs, and which describe a rival.
class JobNames {
 public:
  template <class T>
  void operator()(const char* name, const T& value, unsigned use = reason::kPlain) {
    if ((use & reason::kOfRival) != 0) of_rival.insert(name);
    if constexpr (std::is_same_v<T, JobId>) {
      names.insert(name);
    } else if constexpr (kHasFields<T>) {
      T::fields(value, *this);
    }
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>&, unsigned use = reason::kPlain) {
    (*this)(name, T{}, use);
  }
  void operator()(const char*, const reason::Judgement&, unsigned = reason::kPlain) {
    of_any(static_cast<const reason::Judgement*>(nullptr));
  }

  std::set<std::string_view> names;
  std::set<std::string_view> of_rival;

 private:
  template <class... By>
  void of_any(const std::variant<By...>*) {
    ((*this)("", By{}), ...);
  }
};

class Reader {
 public:
  Reader(Measure measure, const std::vector<ReasonNumber>& numbers) : measure_(measure), numbers_(numbers) {}

  template <class T>
  void operator()(const char* name, T& value, unsigned = reason::kPlain) {
    if constexpr (kHasFields<T>) {
      T::fields(value, *this);
    } else if (const double* number = find(name)) {
      value = from_number<T>(*number);
    }
  }
  // A group is present if its first number is.
  template <class T>
  void operator()(const char* name, std::optional<T>& value, unsigned = reason::kPlain) {
    if constexpr (kHasFields<T>) {
      const char* first = nullptr;
      T inner;
      T::fields(inner, [&](const char* each, const auto&, unsigned = reason::kPlain) {
        if (first == nullptr) first = each;
      });
      if (find(first) == nullptr) return;
      T::fields(inner, *this);
      value = inner;
    } else if (const double* number = find(name)) {
      value = from_number<T>(*number);
    }
  }
  void operator()(const char*, reason::Judgement& by, unsigned = reason::kPlain) {
    if (measure_ == Measure::kPromise) {
      reason::ByPromise::fields(by.emplace<reason::ByPromise>(), *this);
    } else if (is_of_turns(measure_) || (measure_ == Measure::kOwn && find("own") != nullptr)) {
      auto& turn = by.emplace<reason::ByTurn>();
      turn.measure = measure_;
      reason::ByTurn::fields(turn, *this);
    } else if (measure_ != Measure::kOwn || find("merit") != nullptr) {
      auto& merit = by.emplace<reason::ByMerit>();
      merit.measure = measure_;
      reason::ByMerit::fields(merit, *this);
    }
  }

 private:
  [[nodiscard]] const double* find(std::string_view name) const {
    for (const ReasonNumber& number : numbers_) {
      if (number.name == name) return &number.value;
    }
    return nullptr;
  }

  Measure measure_;
  const std::vector<ReasonNumber>& numbers_;
};

// Calls `visit` with a default of each struct in turn until it returns that it is done.
template <std::size_t Case = 0>
bool any_kind(auto&& visit) {
  if constexpr (Case == std::variant_size_v<AnyReason>) {
    return false;
  } else {
    return visit(std::variant_alternative_t<Case, AnyReason>()) || any_kind<Case + 1>(visit);
  }
}

const JobNames& all_job_names() {
  static const JobNames all = [] {
    JobNames jobs;
    any_kind([&]<class R>(const R& blank) {
      R::fields(blank, jobs);
      return false;
    });
    return jobs;
  }();
  return all;
}

// Removes the number names of a kind of reason from the numbers.
class Erased {
 public:
  explicit Erased(std::vector<ReasonNumber>& from) : from_(from) {}

  template <class T>
  void operator()(std::string_view name, const T& value, unsigned = reason::kPlain) {
    if constexpr (kHasFields<T>) {
      T::fields(value, *this);
    } else {
      std::erase_if(from_, [&](const ReasonNumber& each) { return each.name == name; });
    }
  }

 private:
  std::vector<ReasonNumber>& from_;
};

// A policy file's own numbers are those that the reason does not have.
template <class R>
void leave_own_out(R& told) {
  Erased erased(told.numbers);
  R::fields(std::as_const(told), erased);
}

std::string_view word_for(const reason::Judgement& by) {
  Measure measure = Measure::kOwn;
  if (const auto* merit = std::get_if<reason::ByMerit>(&by)) measure = merit->measure;
  if (const auto* turn = std::get_if<reason::ByTurn>(&by)) measure = turn->measure;
  if (std::holds_alternative<reason::ByPromise>(by)) measure = Measure::kPromise;
  for (const MeasureName& each : kMeasures) {
    if (each.measure == measure) return each.word;
  }
  return "";
}

}  // namespace

std::string_view name_of(const Reason& reason) {
  return traits_of(reason).name;
}

const std::vector<std::string_view>& reason_names() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> names;
    any_kind([&]<class R>(const R&) {
      names.push_back(R::kTraits.name);
      return false;
    });
    return names;
  }();
  return all;
}

const std::set<std::string_view>& job_numbers() {
  return all_job_names().names;
}

const std::set<std::string_view>& rival_numbers() {
  return all_job_names().of_rival;
}

std::string word_of(const Reason& reason) {
  return visit_reason(
      []<class R>(const R& told) -> std::string {
        if constexpr (requires { told.word; }) {
          return told.word;
        } else if constexpr (requires { word_for(told.by); }) {
          return std::string(word_for(told.by));
        } else {
          return "";
        }
      },
      reason);
}

std::vector<ReasonNumber> numbers_of(const Reason& reason) {
  Writer writer;
  visit_reason(
      [&]<class R>(const R& told) {
        R::fields(told, writer);
        if constexpr (requires { told.numbers; }) {
          writer.numbers.insert(writer.numbers.end(), told.numbers.begin(), told.numbers.end());
        }
      },
      reason);
  return std::move(writer.numbers);
}

nlohmann::json straggler_json(const Reason& reason) {
  const auto slow = visit_reason(
      []<class R>(const R& told) -> reason::SlowWorker {
        if constexpr (std::is_base_of_v<reason::SlowWorker, R>) return static_cast<const reason::SlowWorker&>(told);
        return {};
      },
      reason);
  const auto* watched = reason_as<reason::StragglerWatched>(reason);
  const bool spares = is_any_of<reason::StragglerNoSpare>(reason) && slow.cost_s > 0;
  const char* action = nullptr;  // the next one
  if (watched != nullptr || is_any_of<reason::StragglerReplaced>(reason)) action = "replace";
  if (is_any_of<reason::StragglerRebalanced>(reason) || (watched != nullptr && watched->by_share.value_or(false))) {
    action = "rebalance";
  }
  if (spares || is_any_of<reason::StragglerShrunk>(reason)) action = "shrink";
  const bool acts = action != nullptr;
  return {{"worker", slow.worker.text()},
          {"score", slow.score},
          {"threshold", slow.threshold},
          {"follows", to_text(slow.follows)},
          {"node_peers", slow.node_peers},
          {"node_slow", slow.node_slow},
          {"node_speed", slow.node_speed > 0 ? nlohmann::json(slow.node_speed) : nlohmann::json(nullptr)},
          {"waited_s", slow.waited_s},
          {"next_action", acts ? nlohmann::json(action) : nlohmann::json(nullptr)},
          {"action_cost_s", acts ? nlohmann::json(slow.cost_s) : nlohmann::json(nullptr)}};
}

Result<Reason> reason_from(std::string_view name, std::string_view word, const std::vector<ReasonNumber>& numbers) {
  Measure measure = Measure::kOwn;
  for (const MeasureName& each : kMeasures) {
    if (each.word == word) measure = each.measure;
  }
  std::optional<Reason> found;
  bool has_own_word = false;
  const bool known = any_kind([&]<class R>(R told) {
    if (R::kTraits.name != name) return false;
    Reader reader(measure, numbers);
    R::fields(told, reader);
    if constexpr (requires { told.word; }) {
      told.word = word;
      has_own_word = true;
    }
    if constexpr (requires { told.numbers; }) {
      told.numbers = numbers;
      leave_own_out(told);
    }
    found = std::move(told);
    return true;
  });
  if (!known) return invalid_argument("there is no reason called " + std::string(name));
  const bool is_measure = word.empty() || measure != Measure::kOwn;
  if (!is_measure && !has_own_word) {
    return invalid_argument("no policy judges by " + std::string(word));
  }
  return *std::move(found);
}

bool tells_reason(const nlohmann::json& data, std::string_view name) {
  const auto reason = data.find("reason");
  return reason != data.end() && reason->is_object() && reason->value("code", "") == name;
}

Reason reason_of_policy(const std::string& word, const std::vector<ReasonNumber>& numbers, const Reason& otherwise) {
  if (word.empty() || reason_as<reason::WaitingForSlots>(otherwise) != nullptr) return otherwise;
  std::vector<ReasonNumber> all = numbers;
  for (ReasonNumber& number : numbers_of(otherwise)) {
    const bool told =
        std::any_of(numbers.begin(), numbers.end(), [&](const ReasonNumber& each) { return each.name == number.name; });
    if (!told) all.push_back(std::move(number));
  }
  if (auto spoken = reason_from(word, "", all); spoken && word != reason::PolicyWord::kTraits.name) {
    return *std::move(spoken);
  }
  reason::PolicyWord own{.word = word, .numbers = numbers};
  leave_own_out(own);
  return own;
}

}  // namespace tidepool::core
