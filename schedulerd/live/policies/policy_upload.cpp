#include "schedulerd/live/policies/policy_upload.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <optional>

#include "policies/host/policy_test.hpp"

namespace tidepool::live {

namespace host = policies::host;

namespace {

using nlohmann::json;

constexpr std::size_t kLuaBytesMax = 256U << 10U;

std::optional<std::string> decoded(const std::string& base64) {
  if (base64.empty() || base64.size() % 4 != 0) return std::nullopt;
  std::string bytes(base64.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(base64.data()), static_cast<int>(base64.size()));
  if (size < 0) return std::nullopt;
  const auto padding = static_cast<std::size_t>(std::count(base64.end() - 2, base64.end(), '='));
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

void read_source(ObjectReader& in, const host::Manifest& manifest, std::string& source) {
  if (manifest.engine == host::EngineKind::kLua) {
    source = in.required_text("source");
    if (in.has("library")) in.fail("library", "Invalid", "the engine is lua: send the text as source");
    if (source.size() > kLuaBytesMax) {
      in.fail(
          "source", "OutOfRange",
          "has " + std::to_string(source.size()) + " bytes; at most " + std::to_string(kLuaBytesMax) + " are taken");
    }
    return;
  }
  if (in.has("source")) in.fail("source", "Invalid", "the engine is native: send the library's bytes as library");
  auto bytes = decoded(in.required_text("library"));
  if (!bytes) {
    in.fail("library", "Invalid", "must be the bytes of policy.so in base64");
  } else if (bytes->size() > host::kSourceBytesMax) {
    in.fail("library", "OutOfRange", "is larger than " + std::to_string(host::kSourceBytesMax) + " bytes");
  } else {
    source = *std::move(bytes);
  }
}

void check_tests(const json& tests, std::vector<FieldError>& errors) {
  if (!tests.is_object()) {
    errors.push_back({"/tests", "WrongType", "must be an object of file names and lists of tests"});
    return;
  }
  std::size_t count = 0;
  for (const json& list : tests) count += list.is_array() ? list.size() : 1;
  if (count > kPolicyTestsMost) {
    errors.push_back({"/tests", "OutOfRange", "a version has at most " + std::to_string(kPolicyTestsMost) + " tests"});
    return;
  }
  for (const auto& [name, list] : tests.items()) {
    std::vector<FieldError> findings;
    host::read_each_test(list, findings, [](const host::PolicyTest&) {});
    for (FieldError& finding : findings) {
      finding.pointer = std::string("/tests/").append(name).append(finding.pointer);
      errors.push_back(std::move(finding));
    }
  }
}

}  // namespace

PolicyVersion read_policy_upload(const json& body, const std::string& name, std::vector<FieldError>& errors) {
  ObjectReader in(body, "", errors);
  const json& described = in.raw("manifest");
  std::vector<FieldError> findings;
  host::PolicyFile file{
      .manifest = host::read_manifest(described.is_null() ? json::object() : described, name, findings),
      .source = {},
      .tests = {}};
  for (FieldError& finding : findings) {
    finding.pointer = "/manifest" + finding.pointer;
    errors.push_back(std::move(finding));
  }
  if (file.manifest.name != name) {
    errors.push_back({"/manifest/name", "Invalid", "is \"" + file.manifest.name + "\" and the path says " + name});
  }
  read_source(in, file.manifest, file.source);
  const json tests = in.has("tests") ? in.raw("tests") : json::object();
  in.finish();
  check_tests(tests, errors);
  return errors.empty() ? version_from(file, tests) : PolicyVersion{};
}

}  // namespace tidepool::live
