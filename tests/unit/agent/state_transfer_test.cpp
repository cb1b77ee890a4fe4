// A saved state on its way between two agents: the real files, threads and TLS links of both, on loopback.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/patience.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workers/agent/system/monotonic.hpp"
#include "workers/agent/transfer/receiving.hpp"
#include "workers/agent/transfer/state_mover.hpp"
#include "workers/runtime/checkpoint/checkpoint_folder.hpp"

namespace tidepool::agent {
namespace {

namespace fs = std::filesystem;

const JobId kJob(3);
constexpr std::int64_t kStep = 120;

std::string state_name() {
  return runtime::CheckpointName{.tag = runtime::tag_of("here/job-3"), .step = kStep, .worker = WorkerId(7)}.text();
}

std::string text_in(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// Bytes that no chunk shares with another.
std::string content(std::size_t bytes) {
  std::string text(bytes, '\0');
  std::uint32_t noise = 1;
  for (char& each : text) {
    noise = noise * 1'664'525U + 1'013'904'223U;
    each = static_cast<char>(noise >> 24U);
  }
  return text;
}

// One agent's half, with what it says and feeds.
struct Side {
  explicit Side(std::int64_t rate = 0)
      : mover({.memory = {}, .jobs = folder.path() / "jobs"}, rate,
              {.post =
                   [this](std::function<void()> what) {
                     const std::lock_guard lock(mutex);
                     posted.push_back(std::move(what));
                   },
               .send = [this](const api::AgentToDaemon& message) { sent.push_back(message); },
               .feed = [this](Fact fact) { fed.push_back(std::move(fact)); },
               .say = [](const std::string&) {}}) {
    mover.join_cluster("here");
  }
  void turn() {
    for (;;) {
      std::function<void()> next;
      {
        const std::lock_guard lock(mutex);
        if (posted.empty()) return;
        next = std::move(posted.front());
        posted.pop_front();
      }
      next();
    }
  }
  template <class Kind>
  std::optional<Kind> fact() const {
    for (const Fact& each : fed) {
      if (const auto* found = std::get_if<Kind>(&each)) return *found;
    }
    return std::nullopt;
  }
  template <class Kind>
  std::optional<Kind> said() const {
    for (auto each = sent.rbegin(); each != sent.rend(); ++each) {
      if (const auto* found = std::get_if<Kind>(&*each)) return *found;
    }
    return std::nullopt;
  }
  // How a fetch has ended: empty = well.
  std::string outcome() {
    REQUIRE(test::eventually([&] {
      turn();
      return fact<StateIsHere>() || fact<StateFetchBroke>();
    }));
    const auto broke = fact<StateFetchBroke>();
    fed.clear();
    return broke ? broke->why : "";
  }
  fs::path incoming() const { return folder.path() / "jobs" / "job-3" / "incoming"; }
  fs::path kept() const { return folder.path() / "jobs" / "job-3" / "checkpoints"; }

  test::TemporaryFolder folder;
  std::mutex mutex;
  std::deque<std::function<void()>> posted;
  std::vector<api::AgentToDaemon> sent;
  std::vector<Fact> fed;
  StateMover mover;  // last: its threads use the rest
};

struct Pair {
  Side source, target;
  std::string state;

  explicit Pair(std::size_t bytes, std::int64_t rate = 0) : source(rate), state(content(bytes)) {
    write_text(source.kept() / state_name(), state);
  }
  // As the daemon passes it on.
  api::FetchState ticket(std::optional<std::string> key = std::nullopt) {
    target.mover.ask(kJob, kStep);
    const std::string print = key.value_or(target.said<api::StateWantedReport>()->key);
    source.mover.offer({.request = 1, .job = kJob, .step = kStep, .key = print}, "127.0.0.1");
    const auto offered = source.said<api::StateOfferedReport>();
    REQUIRE(offered);
    return {.job = kJob,
            .step = kStep,
            .ticket = offered->ticket,
            .host = offered->host,
            .port = offered->port,
            .key = offered->key};
  }
  std::string fetch(const api::FetchState& from) {
    target.mover.fetch(from);
    return target.outcome();
  }
};

TEST_CASE("a state comes whole, and lies where the job's workers look once it is delivered") {
  Pair pair(3 * kStateChunk + 17);
  CHECK(pair.fetch(pair.ticket()).empty());
  CHECK(fs::exists(pair.target.incoming() / state_name()));
  REQUIRE(pair.target.mover.deliver(kJob, pair.target.kept(), 0).ok());
  CHECK(text_in(pair.target.kept() / state_name()) == pair.state);
  CHECK_FALSE(fs::exists(pair.target.incoming()));
  // Asked for again, it is found here.
  pair.target.mover.ask(kJob, kStep);
  CHECK(pair.target.fact<StateIsHere>()->bytes == static_cast<std::int64_t>(pair.state.size()));
}

TEST_CASE("a transfer goes on behind the last whole chunk that an attempt before has left") {
  Pair pair(4 * kStateChunk + 9);
  const fs::path part = pair.target.incoming() / (state_name() + ".part");
  (void)SavedFiles({.memory = {}, .jobs = pair.target.folder.path() / "jobs"}, "here").incoming(kJob);
  write_text(part, pair.state.substr(0, 2 * kStateChunk + 100));
  std::int64_t offset = -1;
  {
    const auto size = static_cast<std::int64_t>(pair.state.size());
    int looks = 0;
    const auto stopped = IncomingFile::open(pair.target.incoming(), state_name(), size, [&] { return ++looks < 2; });
    CHECK_FALSE(stopped.ok());  // asked after each chunk
    CHECK(looks == 2);
    auto taken = IncomingFile::open(pair.target.incoming(), state_name(), size, [] { return true; });
    REQUIRE(taken.ok());
    offset = taken->offset();
  }
  CHECK(offset == static_cast<std::int64_t>(2 * kStateChunk));
  CHECK(pair.fetch(pair.ticket()).empty());
  CHECK(text_in(pair.target.incoming() / state_name()) == pair.state);
}

TEST_CASE("what an attempt before has left of another file is seen by the checksum, and thrown away") {
  Pair pair(3 * kStateChunk);
  (void)SavedFiles({.memory = {}, .jobs = pair.target.folder.path() / "jobs"}, "here").incoming(kJob);
  std::string damaged = pair.state.substr(0, 2 * kStateChunk);
  damaged[kStateChunk / 2] = static_cast<char>(damaged[kStateChunk / 2] ^ 1);
  write_text(pair.target.incoming() / (state_name() + ".part"), damaged);
  CHECK(pair.fetch(pair.ticket()).find("checksum") != std::string::npos);
  CHECK_FALSE(fs::exists(pair.target.incoming() / state_name()));
  CHECK(pair.fetch(pair.ticket()).empty());  // from the start
  CHECK(text_in(pair.target.incoming() / state_name()) == pair.state);
}

TEST_CASE("a ticket is good once, for one key, and no other is good at all") {
  Pair pair(kStateChunk);
  api::FetchState forged = pair.ticket();
  forged.ticket[0] = forged.ticket[0] == 'A' ? 'B' : 'A';
  CHECK(pair.fetch(forged).find("not one of this agent") != std::string::npos);
  CHECK(pair.fetch(pair.ticket("sha256:another")).find("another key") != std::string::npos);
  const api::FetchState good = pair.ticket();
  CHECK(pair.fetch(good).empty());
  CHECK(pair.fetch(good).find("has been used") != std::string::npos);
}

TEST_CASE("an agent that is not the one with the key that the daemon has named is not believed") {
  Pair pair(kStateChunk);
  api::FetchState from = pair.ticket();
  Pair other(kStateChunk);
  from.key = other.ticket().key;
  CHECK(pair.fetch(from).find("TLS") != std::string::npos);
  CHECK_FALSE(fs::exists(pair.target.incoming() / state_name()));
}

TEST_CASE("connections that say nothing keep no state from being fetched") {
  Pair pair(kStateChunk);
  const api::FetchState from = pair.ticket();
  boost::asio::io_context io;
  std::vector<boost::asio::ip::tcp::socket> idle;
  for (int i = 0; i < 32; ++i) {
    idle.emplace_back(io);
    idle.back().connect({boost::asio::ip::make_address(from.host), static_cast<std::uint16_t>(from.port)});
  }
  CHECK(pair.fetch(from).empty());
}

TEST_CASE("the rate bounds what is sent") {
  const std::int64_t rate = 4 * static_cast<std::int64_t>(kStateChunk);
  Pair pair(4 * kStateChunk, rate);
  const Instant begin = monotonic_now();
  CHECK(pair.fetch(pair.ticket()).empty());
  CHECK(monotonic_now() - begin >= Duration::millis(750));  // the first chunk goes at once
}

TEST_CASE("a fetch that is abandoned leaves nothing behind") {
  Pair pair(64 * kStateChunk, static_cast<std::int64_t>(kStateChunk));
  pair.target.mover.fetch(pair.ticket());
  REQUIRE(test::eventually([&] {
    pair.target.turn();
    return pair.target.fact<StateBytesCame>().has_value();
  }));
  pair.target.mover.abandon(kJob);
  CHECK_FALSE(fs::exists(pair.target.incoming()));
  pair.target.turn();
  CHECK_FALSE(pair.target.fact<StateFetchBroke>());
}

TEST_CASE("a state of another step, a symbolic link and another job's file are not handed over") {
  Side side;
  write_text(side.folder.path() / "secret", "x");
  fs::create_directories(side.kept());
  fs::create_symlink(side.folder.path() / "secret", side.kept() / state_name());
  side.mover.offer({.request = 5, .job = kJob, .step = kStep, .key = "k"}, "127.0.0.1");
  REQUIRE(side.said<api::StateRefusedReport>());
  CHECK(side.said<api::StateRefusedReport>()->request == 5);
  const SavedFiles files({.memory = {}, .jobs = side.folder.path() / "jobs"}, "here");
  CHECK(files.is_state(state_name(), kJob, kStep));
  CHECK_FALSE(files.is_state(state_name(), kJob, kStep + 1));
  CHECK_FALSE(files.is_state(state_name(), JobId(4), kStep));
  CHECK_FALSE(files.is_state("../" + state_name(), kJob, kStep));
}

TEST_CASE("a chunk that is damaged on its way is an error, and so is a file that ends early or late") {
  const std::string text = content(1'000);
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(text.data()), text.size());
  std::string frame = frame_of(bytes);
  const auto read = [](const std::string& all) {
    FrameReader reader;
    reader.append({reinterpret_cast<const std::byte*>(all.data()), all.size()});
    return reader.next();
  };
  REQUIRE(read(frame).ok());
  CHECK((*read(frame))->chunk.size() == 1'000);
  CHECK_FALSE(*read(frame.substr(0, 999)));
  for (const std::size_t at : {std::size_t{4}, std::size_t{9}, frame.size() - 1}) {
    std::string damaged = frame;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    CHECK_FALSE(read(damaged).ok());
  }
  test::TemporaryFolder folder;
  auto file = IncomingFile::open(folder.path(), state_name(), 2'000, [] { return true; });
  REQUIRE(file.ok());
  CHECK_FALSE(file->add(**read(frame)).ok());  // shorter than what is left
  CHECK_FALSE(file->finish(0).ok());
}

TEST_CASE("bytes wait for their turn at the rate, and without a rate never") {
  Pacer pacer(1'000);
  const Instant now = Instant::from_micros(5'000'000);
  CHECK(pacer.wait_for(500, now) == Duration());
  CHECK(pacer.wait_for(500, now) == Duration::millis(500));
  CHECK(pacer.wait_for(500, now + Duration::seconds(3)) == Duration());
  Pacer free(0);
  CHECK(free.wait_for(1 << 30, now) == Duration());
  CHECK(free.wait_for(1 << 30, now) == Duration());
}

TEST_CASE("a ticket that is not shown in time is none any more") {
  Tickets tickets;
  const Instant now = Instant::from_micros(1);
  tickets.issue("t", {.job = kJob, .step = kStep, .key = "k", .until = {}}, now);
  CHECK_FALSE(tickets.redeem("t", "k", now + kTicketLife).ok());
  tickets.issue("u", {.job = kJob, .step = kStep, .key = "k", .until = {}}, now);
  CHECK_FALSE(tickets.redeem("u", "other", now).ok());
  CHECK_FALSE(tickets.redeem("u", "k", now).ok());  // shown to a stranger: it is no secret any more
}

}  // namespace
}  // namespace tidepool::agent
