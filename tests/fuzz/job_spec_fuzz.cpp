// Any bytes as a job file: findings in words, or a spec whose own document reads back the same.
#include <cstdint>
#include <string_view>

#include "api/v1/job_spec.hpp"
#include "base/check.hpp"

using namespace tidepool;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!document) {
    TP_CHECK(!document.error().message.empty(), "a refusal says what is wrong");
    return 0;
  }
  const auto findings = api::v1::read_job_spec(document.value());
  for (const auto& error : findings.errors) {
    TP_CHECK(error.pointer.empty() || error.pointer.front() == '/', "a finding points into the document");
    TP_CHECK(!error.message.empty() && !error.code.empty(), "a finding says what is wrong");
  }
  if (!findings.errors.empty()) return 0;
  const auto& elastic = findings.spec.elastic;
  TP_CHECK(!elastic.sizes.empty() && elastic.sizes.front() == elastic.min && elastic.sizes.back() <= elastic.max,
           "sizes lie within min and max");
  TP_CHECK(findings.spec.batch.global >= elastic.max, "each worker has a sample");
  const auto effective = api::v1::effective_document(findings.spec);
  const auto again = api::v1::read_job_spec(effective);
  TP_CHECK(again.errors.empty(), "what was accepted is accepted again");
  TP_CHECK(api::v1::effective_document(again.spec) == effective, "what was read is written back the same");
  return 0;
}
