// Decisions, reasons and job specs as JSON.
#include <algorithm>
#include <charconv>

#include "base/codec/text_writer.hpp"
#include "base/digest.hpp"
#include "base/overloaded.hpp"
#include "core/codec/codec.hpp"
#include "core/codec/codec_fields.hpp"
#include "core/codec/pool_fields.hpp"
#include "core/codec/reason_numbers.hpp"
#include "core/codec/row_texts.hpp"
#include "core/codec/tenant_fields.hpp"

namespace tidepool::core {

inline auto names_of(JobEnd) {
  using Name = codec::EnumName<JobEnd>;
  return std::array{Name{JobEnd::kSucceeded, "succeeded"}, Name{JobEnd::kFailed, "failed"},
                    Name{JobEnd::kCancelled, "cancelled"}};
}

inline auto names_of(ReplaceCause) {
  using Name = codec::EnumName<ReplaceCause>;
  return std::array{Name{ReplaceCause::kStraggler, "straggler"}, Name{ReplaceCause::kSlotType, "slot_type"},
                    Name{ReplaceCause::kDrain, "drain"}, Name{ReplaceCause::kTogether, "together"}};
}
inline auto names_of(StopCause) {
  using Name = codec::EnumName<StopCause>;
  return std::array{Name{StopCause::kLeaves, "leaves"}, Name{StopCause::kStartTimeout, "start_timeout"},
                    Name{StopCause::kStuck, "stuck"}, Name{StopCause::kSwitchTimeout, "switch_timeout"}};
}

void fields(auto& archive, codec::Like<WorkerPlacement> auto& placement) {
  archive("worker", placement.worker);
  archive("node", placement.node);
  archive("slots", placement.slots);
}
void fields(auto& archive, codec::Like<StartIntent> auto& intent) {
  archive("job", intent.job);
  archive("newcomers", intent.joining_workers);
}
void fields(auto& archive, codec::Like<GrowIntent> auto& intent) {
  archive("job", intent.job);
  archive("newcomers", intent.joining_workers);
}
void fields(auto& archive, codec::Like<ShrinkIntent> auto& intent) {
  archive("job", intent.job);
  archive("leavers", intent.leaving_workers);
  archive("straggler", intent.straggler);
  archive("for_jobs", intent.for_jobs);
}
void fields(auto& archive, codec::Like<ReplaceIntent> auto& intent) {
  archive("job", intent.job);
  archive("newcomer", intent.joining_worker);
  archive("leaver", intent.leaving_worker);
  archive("cause", intent.cause);
}
void fields(auto& archive, codec::Like<MoveIntent> auto& intent) {
  archive("job", intent.job);
  archive("newcomers", intent.joining_workers);
  archive("leavers", intent.leaving_workers);
  archive("cause", intent.cause);
}
void fields(auto& archive, codec::Like<RebalanceIntent> auto& intent) {
  archive("job", intent.job);
  archive("generation", intent.generation);
  archive("number", intent.number);
  archive("weights", intent.weights);
  archive("worker", intent.worker);
  archive("regains", intent.regains);
}
void fields(auto& archive, codec::Like<SwitchIntent> auto& intent) {
  archive("job", intent.job);
  archive("number", intent.number);
  archive("members", intent.members);
  archive("after_failure", intent.after_failure);
}
void fields(auto& archive, codec::Like<LaunchIntent> auto& intent) {
  archive("job", intent.job);
  archive("number", intent.number);
}
void fields(auto& archive, codec::Like<PreemptIntent> auto& intent) {
  archive("job", intent.job);
  archive("number", intent.number);
  archive("after_failure", intent.after_failure);
  archive("for_job", intent.for_job);
}
void fields(auto& archive, codec::Like<AskIntent> auto& intent) {
  archive("job", intent.job);
  archive("for_job", intent.for_job);
}
void fields(auto& archive, codec::Like<StopWorkerIntent> auto& intent) {
  archive("job", intent.job);
  archive("worker", intent.worker);
  archive("grace", intent.grace);
  archive("cause", intent.cause);
}
void fields(auto& archive, codec::Like<ProbeIntent> auto& intent) {
  archive("job", intent.job);
  archive("node", intent.node);
  archive("worker", intent.worker);
}
void fields(auto& archive, codec::Like<EndJobIntent> auto& intent) {
  archive("job", intent.job);
  archive("end", intent.end);
}

nlohmann::json encode_value(const Reason& reason) {
  auto numbers = nlohmann::json::object();
  for (const auto& [name, value] : numbers_of(reason)) numbers[name] = codec::encode(value);
  nlohmann::json out{{"code", name_of(reason)}, {"numbers", std::move(numbers)}};
  if (std::string word = word_of(reason); !word.empty()) out["word"] = std::move(word);
  return out;
}

namespace {

// As the object {"from": 1.0, "to": 2.0}.
struct NumbersByName {
  std::vector<ReasonNumber> numbers;
};

NumbersByName numbers_by_name(const Reason& reason) {
  NumbersByName sorted{numbers_of(reason)};
  std::sort(sorted.numbers.begin(), sorted.numbers.end(),
            [](const ReasonNumber& one, const ReasonNumber& other) { return one.name < other.name; });
  return sorted;
}

void append_text(std::string& out, const NumbersByName& object) {
  codec::append_all(out, object.numbers, "{}", [&](const ReasonNumber& number) {
    codec::append_quoted(out, number.name);
    out += ':';
    codec::append_number(out, number.value);
  });
}

}  // namespace

void fields(codec::TextWriter& writer, const Reason& reason) {
  const std::string word = word_of(reason);
  if (!word.empty()) writer.write_all();  // a blank measure has no word
  writer("code", std::string(name_of(reason)));
  writer("numbers", numbers_by_name(reason));
  if (!word.empty()) writer("word", word);
}

void fields(codec::BlankWriter& writer, const Reason& reason) {
  writer("code", std::string(name_of(reason)));
  writer("numbers", numbers_by_name(reason));
}

Status decode_value(const nlohmann::json& in, const std::string& where, Reason& reason) {
  const bool worded = in.is_object() && in.contains("word") && in["word"].is_string();
  const bool shaped = in.is_object() && in.size() == (worded ? 3U : 2U) && in.contains("code") &&
                      in["code"].is_string() && in.contains("numbers") && in["numbers"].is_object();
  if (!shaped) return codec::wrong(where, "a reason with code and numbers");
  std::vector<ReasonNumber> numbers;
  for (const auto& [name, value] : in["numbers"].items()) {
    const std::string place = std::string(where).append("/numbers/").append(name);
    TP_TRY(codec::decode(value, place, numbers.emplace_back(name, 0).value));
  }
  const std::string word = worded ? in["word"].get<std::string>() : std::string();
  auto told = reason_from(in["code"].get_ref<const std::string&>(), word, numbers);
  if (!told) return codec::wrong(where, "a reason that this version knows");
  reason = *std::move(told);
  return ok_status();
}

namespace {

nlohmann::json encode_planned(const auto& planned) {
  auto out = std::visit([](const auto& any) { return codec::encode(any); }, planned.intent);
  out["intent"] = name_of(planned.intent);
  out["reason"] = codec::encode(planned.reason);
  return out;
}

}  // namespace

nlohmann::json encode_value(const PlannedIntent& planned) {
  return encode_planned(planned);
}
nlohmann::json encode_value(const PlannedNode& planned) {
  return encode_planned(planned);
}

namespace {

template <std::size_t Case = 0, class AnyIntent>
Status decode_intent(const std::string& name, const nlohmann::json& body, const std::string& where, AnyIntent& intent) {
  if constexpr (Case == std::variant_size_v<AnyIntent>) {
    return codec::wrong(where + "/intent", "an intent that this version knows");
  } else {
    std::variant_alternative_t<Case, AnyIntent> candidate;
    if (name_of(AnyIntent(candidate)) != name) return decode_intent<Case + 1>(name, body, where, intent);
    TP_TRY(codec::decode(body, where, candidate));
    intent = std::move(candidate);
    return ok_status();
  }
}

Status decode_planned(const nlohmann::json& in, const std::string& where, auto& planned) {
  const bool shaped = in.is_object() && in.contains("intent") && in["intent"].is_string() && in.contains("reason");
  if (!shaped) return codec::wrong(where, "an intent with its reason");
  TP_TRY(codec::decode(in["reason"], where + "/reason", planned.reason));
  auto body = in;
  body.erase("intent");
  body.erase("reason");
  // Those of earlier versions lack these fields.
  if (in["intent"] == "preempt") body.emplace("for_job", nullptr);
  if (in["intent"] == "shrink") body.emplace("for_jobs", nlohmann::json::array());
  return decode_intent(in["intent"].get<std::string>(), body, where, planned.intent);
}

}  // namespace

Status decode_value(const nlohmann::json& in, const std::string& where, PlannedIntent& planned) {
  return decode_planned(in, where, planned);
}
Status decode_value(const nlohmann::json& in, const std::string& where, PlannedNode& planned) {
  return decode_planned(in, where, planned);
}

void fields(auto& archive, codec::Like<TargetChange> auto& change) {
  archive("job", change.job);
  archive("now", change.now);
  archive("words_only", change.words_only);
}
void fields(auto& archive, codec::Like<Replan> auto& replan) {
  archive("changes", replan.changes);
  archive("mark", replan.mark);
  archive("wake", replan.wake);
  archive("error", replan.error);
}

// The two functions below write inputs_digest as sixteen hexadecimal digits, because many JSON readers lose whole
// numbers above 2^53.
void fields(auto& archive, codec::Like<Decision> auto& decision) {
  archive("id", decision.id);
  archive("at", decision.at);
  archive("policy", decision.policy);
  archive("plan", decision.plan);
  archive("verdicts", decision.verdicts);
  archive("replan", decision.replan);
  archive("steps_counted", decision.steps_counted);
}

namespace {

std::optional<StoredTenantChanges> tenant_changes(const Decision& decision) {
  if (!decision.replan || (decision.replan->tenants.empty() && !decision.replan->counts_loans)) return std::nullopt;
  return StoredTenantChanges{decision.replan->tenants, decision.replan->counts_loans};
}

Status take_tenant_changes(nlohmann::json value, Decision& decision) {
  if (!decision.replan) return codec::wrong("/tenants", "changes of a plan");
  if (value.is_object() && value.contains("changes")) {
    for (auto& change : value["changes"]) {
      if (change.is_object() && change.contains("now")) add_missing_plan_fields(change["now"]);
    }
  }
  StoredTenantChanges stored;
  TP_TRY(codec::decode(value, "/tenants", stored));
  decision.replan->tenants = std::move(stored.changes);
  decision.replan->counts_loans = stored.counts_loans;
  return ok_status();
}

}  // namespace

nlohmann::json to_json(const Decision& decision) {
  auto out = codec::encode(decision);
  out["inputs_digest"] = hex_of(decision.inputs_digest);
  // Omitted without pools, as in the decisions of daemons that did not support them.
  if (!decision.nodes.empty()) out["nodes"] = codec::encode(decision.nodes);
  // Also omitted if tenants are unchanged, or there are none.
  if (const auto tenants = tenant_changes(decision)) out["tenants"] = codec::encode(*tenants);
  return out;
}

Result<Decision> decision_from_json(const nlohmann::json& value) {
  if (!value.is_object()) return invalid_argument("a decision must be an object");
  const auto hex = value.find("inputs_digest");
  if (hex == value.end() || !hex->is_string()) return invalid_argument("/inputs_digest is missing");
  Decision decision;
  const auto& digits = hex->get_ref<const std::string&>();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), decision.inputs_digest, 16);
  if (digits.size() != 16 || error != std::errc() || end != digits.data() + 16) {
    return invalid_argument("/inputs_digest must be sixteen hexadecimal digits");
  }
  auto rest = value;
  rest.erase("inputs_digest");
  if (const auto nodes = rest.find("nodes"); nodes != rest.end()) {
    TP_TRY(codec::decode(*nodes, "/nodes", decision.nodes));
    rest.erase(nodes);
  }
  const auto tenants = rest.find("tenants");
  const auto changes = tenants == rest.end() ? nlohmann::json() : std::move(*tenants);
  if (tenants != rest.end()) rest.erase(tenants);
  TP_TRY(codec::decode(rest, "", decision));
  if (!changes.is_null()) TP_TRY(take_tenant_changes(changes, decision));
  return decision;
}

nlohmann::json to_json(const Reason& reason) {
  return codec::encode(reason);
}

Result<Reason> reason_from_json(const nlohmann::json& value) {
  Reason reason;
  TP_TRY(codec::decode(value, "", reason));
  return reason;
}

nlohmann::json to_json(const JobSpec& spec) {
  return codec::encode(spec);
}

namespace {

// A decision as a row of the journal: its verdicts and targets omit the values of blank ones.
class DecisionRow {
 public:
  explicit DecisionRow(codec::TextWriter& writer) : writer_(writer) {}

  template <class T>
  void operator()(const char* name, const T& value) {
    writer_(name, value);
  }
  void operator()(const char* name, const std::optional<Target>& target) {
    each(name, target, codec::append_as_row<Target>);
  }
  void operator()(const char* name, const std::vector<Verdict>& verdicts) {
    each(name, verdicts, codec::append_as_row<Verdict>);
  }
  void operator()(const char* name, const std::vector<TargetChange>& changes) {
    each(name, changes, append_object<TargetChange>);
  }
  void operator()(const char* name, const std::optional<Replan>& replan) { each(name, replan, append_object<Replan>); }

 private:
  template <class T>
  static void append_object(std::string& out, const T& value) {
    codec::TextWriter writer(out);
    DecisionRow row(writer);
    fields(row, value);
    writer.finish();
  }
  template <class Holder, class T>
  void each(const char* name, const Holder& holder, void (*append_one)(std::string&, const T&)) {
    writer_.with(name, [&](std::string& out) {
      codec::append_each(out, holder, [&](const T& held) { append_one(out, held); });
    });
  }

  codec::TextWriter& writer_;
};

}  // namespace

std::string decision_text(const Decision& decision) {
  std::string text;
  codec::TextWriter writer(text);
  DecisionRow row(writer);
  fields(row, decision);
  row("inputs_digest", hex_of(decision.inputs_digest));
  if (!decision.nodes.empty()) row("nodes", decision.nodes);
  if (const auto tenants = tenant_changes(decision)) row("tenants", *tenants);
  writer.finish();
  return text;
}

}  // namespace tidepool::core
