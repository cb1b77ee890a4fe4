// Random messages of every kind survive the wire, and no damaged line does more than be refused.
#include <catch2/catch.hpp>

#include "api/worker_protocol.hpp"
#include "base/json.hpp"
#include "tests/support/seeds.hpp"

namespace tidepool::api {
namespace {

std::int64_t any_natural(Rng& rng) {
  return static_cast<std::int64_t>(rng.next() >> (12U + rng.below(52)));
}

GenerationNumber any_generation(Rng& rng) {
  return static_cast<GenerationNumber>(rng.next());
}

WorkerId any_worker(Rng& rng) {
  return WorkerId(1 + rng.below(UINT64_MAX - 1));
}

std::string any_bytes(Rng& rng) {
  std::string bytes(rng.below(40), '\0');
  for (char& c : bytes) c = static_cast<char>(rng.below(256));
  return bytes;
}

std::string any_text(Rng& rng) {
  static const std::string kPieces[] = {"a", "\"", "\\", "\n", std::string(1, '\0'), "\xc3\xa9", "\xf0\x9f\x8c\x8a",
                                        "{", " "};
  std::string text;
  for (std::uint64_t i = rng.below(8); i > 0; --i) text += kPieces[rng.below(std::size(kPieces))];
  return text;
}

template <class Make>
auto some(Rng& rng, Make make) {
  std::vector<decltype(make(rng))> items;
  for (std::uint64_t i = rng.below(5); i > 0; --i) items.push_back(make(rng));
  return items;
}

std::optional<double> any_noise_scale(Rng& rng) {
  return rng.chance(0.5) ? std::optional(rng.uniform() * 1e9) : std::nullopt;
}

StepsMessage any_steps(Rng& rng) {
  StepsMessage steps{.generation = any_generation(rng), .last_step = any_natural(rng)};
  const auto ranks = static_cast<std::size_t>(rng.below(4));
  steps.steps = ranks == 0 ? rng.between(1, 1'000'000) : rng.between(1, 5);
  steps.elapsed_us = rng.between(0, 1'000'000'000'000);
  steps.samples = rng.between(0, 1'000'000'000'000);
  steps.loss = rng.normal();
  steps.epoch = any_natural(rng);
  for (std::size_t i = ranks * static_cast<std::size_t>(steps.steps); i > 0; --i) {
    steps.compute_us.push_back(rng.between(0, 1'000'000'000'000));
  }
  steps.global_batch = any_natural(rng);
  steps.noise_scale = any_noise_scale(rng);
  steps.samples_total = any_natural(rng);
  steps.shares = any_natural(rng);
  return steps;
}

ReadyMessage any_ready(Rng& rng) {
  ReadyMessage ready{.generation = any_generation(rng)};
  if (rng.chance(0.3)) ready.work_steps = rng.between(1, kWorkMax);
  if (!ready.work_steps && rng.chance(0.5)) ready.work_samples = rng.between(1, kWorkMax);
  return ready;
}

FromWorker any_from_worker(Rng& rng) {
  switch (rng.below(14)) {
    case 12:
      return AnswerMessage{DecisionId(1 + rng.below(99)), rng.between(1, 999), static_cast<NoticeAnswer>(rng.below(4)),
                           rng.between(0, 86'400'000)};
    case 11: return RebalancedMessage{any_generation(rng), any_natural(rng), any_natural(rng), rng.uniform() * 1e6};
    case 0: return any_ready(rng);
    case 1: return AddressMessage{any_generation(rng), static_cast<int>(rng.below(INT32_MAX)), any_bytes(rng)};
    case 2:
      return SwitchedMessage{any_generation(rng),
                             any_natural(rng),
                             rng.uniform() * 1e9,
                             rng.uniform(),
                             rng.between(0, 1'000'000),
                             any_natural(rng),
                             any_natural(rng),
                             rng.chance(0.5)
                                 ? std::optional(UnusedState{any_natural(rng), static_cast<UnusedWhy>(rng.below(3))})
                                 : std::nullopt};
    case 3: return any_steps(rng);
    case 4: return EpochAuditedMessage{any_natural(rng), any_natural(rng), any_natural(rng), rng.chance(0.5)};
    case 5: return ParkedMessage{any_generation(rng), any_natural(rng), any_natural(rng), rng.uniform() * 1e6};
    case 6:
      return CheckpointedMessage{any_generation(rng), any_natural(rng), any_natural(rng), rng.uniform() * 1e6,
                                 any_text(rng)};
    case 7: return RestoredMessage{any_generation(rng), any_natural(rng), any_natural(rng), any_text(rng)};
    case 8: return StartedMessage{any_generation(rng)};
    case 9:
      return EndedMessage{any_generation(rng), static_cast<int>(rng.between(-1, 255)),
                          static_cast<int>(rng.between(0, 127)), any_text(rng)};
    case 10: return CheckpointFailedMessage{any_generation(rng), any_natural(rng), any_text(rng)};
    default: return FinishedMessage{any_natural(rng), rng.normal() * 1e300, any_natural(rng)};
  }
}

PulsePhase any_phase(Rng& rng) {
  return static_cast<PulsePhase>(rng.below(4));
}

ToWorker any_to_worker(Rng& rng) {
  switch (rng.below(6)) {
    case 5:
      return NoticeMessage{.decision = DecisionId(1 + rng.below(99)),
                           .reason = any_text(rng),
                           .sentence = any_text(rng),
                           .in_ms = any_natural(rng),
                           .extended_ms = any_natural(rng),
                           .answers = any_natural(rng),
                           .granted = rng.chance(0.5)};
    case 3: {
      SharesMessage shares{any_generation(rng), rng.between(1, 1'000'000), {rng.between(1, kShareWeightMax)}};
      while (rng.chance(0.6)) shares.weights.push_back(rng.between(1, kShareWeightMax));
      return shares;
    }
    case 0: return GenerationMessage{any_generation(rng), some(rng, any_worker), rng.chance(0.5)};
    case 1: return GenerationMessage{any_generation(rng), {}, rng.chance(0.5), true};
    case 2: return CheckpointOrder{};
    default: break;
  }
  return AddressesMessage{any_generation(rng), some(rng, any_bytes)};
}

AgentToDaemon any_agent_to_daemon(Rng& rng) {
  const auto number = static_cast<std::uint64_t>(any_natural(rng)) | 1U;
  switch (rng.below(16)) {
    case 10: return StateWantedReport{JobId(number), any_natural(rng), any_text(rng)};
    case 11:
      return StateOfferedReport{number, any_text(rng), any_text(rng), 1 + static_cast<int>(rng.below(65'535)),
                                any_text(rng)};
    case 12: return StateRefusedReport{number, any_text(rng)};
    case 13: return StateBroughtReport{JobId(number), any_natural(rng), any_natural(rng), any_natural(rng)};
    case 14: return StateLeftReport{JobId(number), any_natural(rng), any_text(rng)};
    case 8: return CertificateRequest{1 + static_cast<int>(rng.below(9)), any_text(rng), any_text(rng), any_text(rng)};
    case 9: return rng.chance(0.3) ? ReclaimReport{} : ReclaimReport{rng.between(0, kReclaimNoticeMax.count_ms())};
    case 6: return KeptJobsReport{some(rng, [](Rng& r) { return JobId(1 + r.below(1'000)); })};
    case 5: {
      ProbedReport report;
      while (rng.chance(0.6)) report.devices.push_back({any_text(rng), 0.5 + rng.uniform(), 1e6 * (1 + rng.uniform())});
      return report;
    }
    case 0:
      return AgentHello{1 + static_cast<int>(rng.below(9)),
                        any_text(rng),
                        any_text(rng),
                        static_cast<int>(rng.below(99)),
                        any_text(rng),
                        any_text(rng),
                        some(rng, any_worker)};
    case 1: return AgentHeartbeat{};
    case 2:
      return WorkerExitedReport{number, any_worker(rng), static_cast<int>(rng.between(-1, 255)),
                                static_cast<int>(rng.below(65)), any_text(rng)};
    case 3: return FromWorkerReport{any_worker(rng), any_from_worker(rng)};
    case 15:
      return SlotsHeldReport{any_worker(rng),
                             any_natural(rng),
                             any_text(rng),
                             static_cast<int>(rng.between(-1, 255)),
                             static_cast<int>(rng.below(65)),
                             any_text(rng)};
    case 4: return WorkerStuckReport{any_worker(rng), any_natural(rng), any_phase(rng), any_natural(rng)};
    default:
      return LogChunk{number, any_worker(rng), any_natural(rng), any_text(rng), any_natural(rng), rng.chance(0.5)};
  }
}

DaemonToAgent any_daemon_to_agent(Rng& rng) {
  const auto number = static_cast<std::uint64_t>(any_natural(rng)) | 1U;
  switch (rng.below(14)) {
    case 13: return TrustedAuthorities{some(rng, any_text)};
    case 10: return OfferState{number, JobId(number), any_natural(rng), any_text(rng)};
    case 11:
      return FetchState{
          JobId(number), any_natural(rng), any_text(rng), any_text(rng), 1 + static_cast<int>(rng.below(65'535)),
          any_text(rng)};
    case 12: return NoState{JobId(number), any_natural(rng), any_text(rng), rng.chance(0.5)};
    case 9: return CertificateIssued{any_text(rng), any_text(rng)};
    case 7: return ForgetJob{JobId(number), rng.between(0, 86'400)};
    case 6: return ProbeNode{};
    case 0:
      return AgentWelcome{1, NodeId(number), rng.between(1, 3'600'000), rng.between(1, 86'400'000), any_text(rng)};
    case 1: return AgentRefuse{any_text(rng)};
    case 2: {
      StartWorker start{any_worker(rng),
                        JobId(number),
                        {},
                        rng.chance(0.5),
                        any_text(rng),
                        some(rng, any_text),
                        {},
                        any_text(rng),
                        {}};
      start.slots = some(rng, [](Rng& r) { return static_cast<int>(r.below(64)); });
      for (const auto& name : some(rng, any_text)) start.env[name] = any_text(rng);
      if (rng.chance(0.5)) start.cpus = static_cast<int>(rng.between(1, 1024));
      if (rng.chance(0.5)) start.memory = rng.between(std::int64_t{1} << 20U, std::int64_t{1} << 50U);
      if (rng.chance(0.5)) start.restart_grace_ms = rng.between(0, 600'000);
      if (rng.chance(0.5)) start.state_step = any_natural(rng);
      start.spec = canonical_json({{"name", any_text(rng)}, {"depth", {{"list", {1, 2.5, nullptr, any_text(rng)}}}}});
      return start;
    }
    case 3: return StopWorker{any_worker(rng), rng.between(0, 600'000)};
    case 4: return ReportAck{number};
    case 5: return ToWorkerOrder{any_worker(rng), any_to_worker(rng)};
    default:
      return LogRead{number, any_worker(rng), any_natural(rng) * (rng.chance(0.5) ? 1 : -1), rng.between(1, 65'536)};
  }
}

// The text of a message is canonical, so equal lines mean equal messages.
template <class Message, class Decode>
void check_round_trip(const Message& message, Decode decode) {
  const std::string line = encode(message);
  CAPTURE(line);
  CHECK(line.find('\n') == line.size() - 1);
  const auto back = decode(line);
  REQUIRE(back.ok());
  CHECK(back->index() == message.index());
  CHECK(encode(*back) == line);
}

std::string damaged(std::string line, Rng& rng) {
  for (std::uint64_t edits = 1 + rng.below(4); edits > 0 && !line.empty(); --edits) {
    const std::size_t at = rng.below(line.size());
    switch (rng.below(5)) {
      case 0: line[at] = static_cast<char>(rng.below(256)); break;
      case 1: line.erase(at, 1 + rng.below(6)); break;
      case 2: line.insert(at, line.substr(rng.below(line.size()), rng.below(12))); break;
      case 3: line.resize(at); break;
      default: line.insert(at, 1, "{}[]\":,-e0.\n"[rng.below(12)]); break;
    }
  }
  return line;
}

// Whatever is accepted must be something that this side could have written itself.
template <class Message>
void check_accepted_is_sound(const Result<Message>& decoded) {
  if (!decoded.ok()) {
    CHECK_FALSE(decoded.error().message.empty());
    return;
  }
  CHECK(encode(*decoded).size() > 2);
}

}  // namespace

TEST_CASE("every message survives the wire") {
  test::for_each_seed("round trip", 40, [](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 25; ++i) {
      check_round_trip(any_agent_to_daemon(rng), decode_agent_to_daemon);
      check_round_trip(any_daemon_to_agent(rng), decode_daemon_to_agent);
      check_round_trip(any_to_worker(rng), decode_to_worker);
      check_round_trip(WorkerToAgent(any_from_worker(rng)), decode_worker_to_agent);
      check_round_trip(WorkerToAgent(WorkerHello{1, any_worker(rng), any_natural(rng)}), decode_worker_to_agent);
      check_round_trip(WorkerToAgent(PulseMessage{any_natural(rng), any_phase(rng), any_natural(rng)}),
                       decode_worker_to_agent);
    }
  });
}

TEST_CASE("a damaged line is refused in words or read as a whole message, never worse") {
  test::for_each_seed("damage", 40, [](std::uint64_t, Rng& rng) {
    for (int i = 0; i < 25; ++i) {
      const std::string lines[] = {encode(any_agent_to_daemon(rng)), encode(any_daemon_to_agent(rng)),
                                   encode(any_to_worker(rng)), encode(WorkerToAgent(any_from_worker(rng)))};
      for (const auto& line : lines) {
        const std::string bad = damaged(line, rng);
        check_accepted_is_sound(decode_agent_to_daemon(bad));
        check_accepted_is_sound(decode_daemon_to_agent(bad));
        check_accepted_is_sound(decode_to_worker(bad));
        check_accepted_is_sound(decode_worker_to_agent(bad));
      }
    }
  });
}

}  // namespace tidepool::api
