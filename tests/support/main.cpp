// The one main of all Catch2 programs; it costs ten seconds to compile, so it is compiled once.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/skips.hpp"

namespace {

struct Skips {
  std::size_t cases = 0;  // that ran, skipped ones among them
  std::vector<std::string> skipped;
  std::string why;  // of the case that runs; empty = it is not skipped
};

Skips& skips() {
  static Skips all;
  return all;
}

class SkipListener final : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo&) override { skips().why.clear(); }
  void testCaseEnded(const Catch::TestCaseStats& ended) override {
    ++skips().cases;
    if (!skips().why.empty()) skips().skipped.push_back(ended.testInfo.name + ": " + skips().why);
  }
};
CATCH_REGISTER_LISTENER(SkipListener)

}  // namespace

void tidepool::test::skip_case(const std::string& why) {
  skips().why = why;
}

int main(int argc, char** argv) {
  // Catch's own status is the number of failures, which could be kSkipExit.
  if (Catch::Session().run(argc, argv) != 0) return 1;
  const Skips& all = skips();
  if (all.skipped.empty()) return 0;
  std::printf("skipped %zu of %zu test cases:\n", all.skipped.size(), all.cases);
  for (const std::string& name : all.skipped) std::printf("  %s\n", name.c_str());
  return all.skipped.size() == all.cases ? tidepool::test::kSkipExit : 0;
}
