// Real Gloo communicators for ranks that are threads of the test.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "workers/runtime/comm/gloo_comm.hpp"

namespace tidepool::runtime {

inline constexpr Millis kTimeout{20'000};

inline std::vector<std::shared_ptr<GlooComm>> open_all(int size, const std::string& host = "127.0.0.1") {
  std::vector<std::shared_ptr<GlooComm>> ranks;
  for (int rank = 0; rank < size; ++rank) {
    auto comm = GlooComm::open(
        {.rank = rank, .size = size, .host = host, .connect_timeout = kTimeout, .collective_timeout = kTimeout});
    REQUIRE(comm.ok());
    ranks.push_back(*comm);
  }
  return ranks;
}

inline void on_all(const std::vector<std::shared_ptr<GlooComm>>& ranks, const std::function<void(GlooComm&)>& act) {
  std::vector<std::thread> threads;
  for (const auto& comm : ranks) threads.emplace_back([&act, comm] { act(*comm); });
  for (auto& thread : threads) thread.join();
}

inline void connect_all(const std::vector<std::shared_ptr<GlooComm>>& ranks) {
  std::vector<api::CommAddress::Gloo> addresses;
  for (const auto& comm : ranks) addresses.push_back(comm->address());
  std::vector<Status> outcomes(ranks.size(), ok_status());
  on_all(ranks, [&](GlooComm& comm) { outcomes[static_cast<std::size_t>(comm.rank())] = comm.connect(addresses); });
  for (const Status& outcome : outcomes) REQUIRE(outcome.ok());
}

inline std::vector<std::shared_ptr<GlooComm>> mesh_of(int size) {
  auto ranks = open_all(size);
  connect_all(ranks);
  return ranks;
}

}  // namespace tidepool::runtime
