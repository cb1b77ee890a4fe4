#include "core/codec/row_texts.hpp"

#include <utility>

#include "base/codec/sparse.hpp"
#include "base/json.hpp"
#include "core/codec/codec.hpp"

namespace tidepool::core {
namespace {

using nlohmann::json;

const json& blank_spec() {
  static const json blank = to_json(Fact(JobSubmitted{})).at("spec");
  return blank;
}

const json& blank_verdict() {
  static const json blank = [] {
    Decision decision;
    decision.verdicts.emplace_back();
    return to_json(decision).at("verdicts").at(0);
  }();
  return blank;
}

const json& blank_target() {
  static const json blank = [] {
    Decision decision;
    decision.replan.emplace();
    decision.replan->changes.emplace_back().now.emplace();
    return to_json(decision).at("replan").at("changes").at(0).at("now");
  }();
  return blank;
}

// Calls on_part(part, blank) for each part of a decision that can be compared with a blank one.
void for_each_part(json& decision, const auto& on_part) {
  if (!decision.is_object()) return;
  if (const auto verdicts = decision.find("verdicts"); verdicts != decision.end() && verdicts->is_array()) {
    for (json& verdict : *verdicts) on_part(verdict, blank_verdict());
  }
  const auto replan = decision.find("replan");
  if (replan == decision.end() || !replan->is_object() || !replan->contains("changes")) return;
  json& changes = replan->at("changes");
  for (json& change : changes) {
    if (change.is_object() && change.contains("now")) on_part(change["now"], blank_target());
  }
}

Result<json> object_in(std::string_view text) {
  auto document = parse_json(text, kOwnJson);
  if (!document.ok()) return document.error();
  if (!document->is_object()) return invalid_argument("must be an object");
  return document;
}

void fill_in_object(json& part, const json& blank) {
  if (part.is_object()) codec::fill_in(part, blank);
}

}  // namespace

Result<Fact> fact_from_text(std::string_view text) {
  auto document = object_in(text);
  if (!document.ok()) return document.error();
  if (const auto spec = document->find("spec"); spec != document->end()) fill_in_object(*spec, blank_spec());
  return fact_from_json(*document);
}

Result<json> decision_json_from_text(std::string_view text) {
  auto document = object_in(text);
  if (document.ok()) for_each_part(*document, fill_in_object);
  return document;
}

Result<Decision> decision_from_text(std::string_view text) {
  const auto document = decision_json_from_text(text);
  if (!document.ok()) return document.error();
  return decision_from_json(*document);
}

}  // namespace tidepool::core
