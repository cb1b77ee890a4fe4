#include "forecast/calibration_text.hpp"

#include <utility>

#include "base/codec/archive.hpp"
#include "base/json.hpp"

namespace tidepool::forecast {

void fields(auto& archive, codec::Like<Calibration::Settled> auto& settled) {
  archive("log", settled.log);
  archive("within", settled.within);
}

void fields(auto& archive, codec::Like<Calibration::Observations> auto& observed) {
  archive("settled", observed.settled);
  archive("tail_below", observed.tail_below);
  archive("tail_above", observed.tail_above);
}

namespace {

constexpr int kVersion = 1;

struct Document {
  int version = kVersion;
  std::vector<Calibration::Observations> classes;
};
void fields(auto& archive, codec::Like<Document> auto& document) {
  archive("version", document.version);
  archive("classes", document.classes);
}

}  // namespace

std::string calibration_text(const Calibration& calibration) {
  return canonical_json(codec::encode(Document{.classes = calibration.observations()}));
}

Result<Calibration> calibration_from_text(std::string_view text) {
  auto value = parse_own_json(text);
  if (!value.ok()) return value.error();
  Document document;
  TP_TRY(codec::decode(*value, "", document));
  if (document.version != kVersion) return invalid_argument("it is of another version of the daemon");
  return Calibration::of(std::move(document.classes));
}

}  // namespace tidepool::forecast
