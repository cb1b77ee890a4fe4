// Tests that a policy's author writes: a small cluster, a few jobs, and what the policy must say. They run in the real
// sandboxed host. docs/policies.md shows the format; unknown fields are errors.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "policies/host/policy_file.hpp"

namespace tidepool::policies::host {

// A job's speed as its test states it: goodput at some sizes, straight lines between them, flat beyond.
class StatedSpeed final : public cluster::SpeedModel {
 public:
  explicit StatedSpeed(std::map<int, double> goodput) : goodput_(std::move(goodput)) {}

  [[nodiscard]] double step_seconds(cluster::Shape shape) const override { return 1 / goodput(shape); }
  [[nodiscard]] double goodput(cluster::Shape shape) const override;

 private:
  std::map<int, double> goodput_;  // by size, never empty
};

// What must be true; absent = anything is accepted. Jobs, tenants and pools by name.
struct Expectation {
  std::map<std::string, int> sizes;                  // what the size hook answers
  std::map<std::string, int> grants;                 // what the jobs get in the end
  std::map<std::string, std::optional<int>> shares;  // what the share hook answers; none = the built-in rule decides
  std::map<std::string, int> entitled;               // slots that tenants may have in the end
  std::map<std::string, std::optional<int>> nodes;   // what the provision hook answers, by pool; none as of shares
  std::map<std::string, std::string> why_nodes;      // the code of its reason, by pool
  std::map<std::string, bool> admitted;
  std::map<std::string, std::string> why;  // the code of the reason
  std::vector<std::string> order;          // in which jobs are served; may omit jobs
  std::string fault;                       // the policy must fail with this fault
};

struct PolicyTest {
  std::string name;
  nlohmann::json params = nlohmann::json::object();
  cluster::View view;
  std::vector<std::string> jobs;  // names, by row
  std::vector<std::unique_ptr<StatedSpeed>> speeds;
  Expectation expect;
};

// The tests of one file: a list. Findings go to `errors`.
[[nodiscard]] std::vector<PolicyTest> read_tests(const nlohmann::json& value, std::vector<FieldError>& errors);
// The same one after the other: the cluster of a test can be a thousand times as large as its text.
void read_each_test(const nlohmann::json& value, std::vector<FieldError>& errors,
                    const std::function<void(PolicyTest)>& take);

// What is not true, a sentence each; empty = the test passes.
[[nodiscard]] std::vector<std::string> run_test(const PolicyTest& test, const Manifest& manifest, PolicyHost& host);

}  // namespace tidepool::policies::host
