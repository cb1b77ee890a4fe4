#include "workers/agent/isolation/address_filter.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/support/temporary_folder.hpp"
#include "workers/agent/isolation/cgroups.hpp"

namespace tidepool::agent {
namespace {

// None, with the reason, where this user or this kernel cannot.
std::optional<AddressFilter> filter_here() {
  auto filter =
      AddressFilter::load({.denied = {IpNetwork::parse("0.0.0.0/0").value(), IpNetwork::parse("::/0").value()}});
  if (filter) return *std::move(filter);
  CHECK_THAT(filter.error().message, Catch::StartsWith("this host's kernel takes no check of addresses: "));
  return std::nullopt;
}

}  // namespace

TEST_CASE("a host whose control groups take no check of addresses says why") {
  const test::TemporaryFolder root;
  Cgroups groups(root.path(), "agent");
  auto first = filter_here();
  auto second = filter_here();
  if (!first || !second) return;
  const Status none = groups.deny_addresses(root.path(), "agent", *std::move(first));
  REQUIRE_FALSE(none.ok());
  CHECK_THAT(none.error().message, Catch::Contains("no control groups of version 2 at " + root.path().string()));
  std::filesystem::create_directory(root.path() / "unified");
  std::ofstream(root.path() / "unified/cgroup.controllers") << "\n";
  const Status plain = groups.deny_addresses(root.path(), "agent", *std::move(second));
  REQUIRE_FALSE(plain.ok());
  CHECK_THAT(plain.error().message, Catch::Contains("attach checks of addresses to"));
  CHECK(std::filesystem::is_empty(root.path() / "unified/tidepool/agent"));
  CHECK(groups.make(WorkerId(1), {}).value().empty());
}

}  // namespace tidepool::agent
