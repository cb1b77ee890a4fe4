#include "workers/agent/restart_files.hpp"

#include "base/files/whole_file.hpp"
#include "base/json.hpp"
#include "workers/agent/system/state_files.hpp"

namespace tidepool::agent {
namespace {

std::filesystem::path path_in(const std::filesystem::path& folder) {
  return folder / "seat.json";
}

}  // namespace

Status write_seat(const std::filesystem::path& folder, const SeatRecord& record) {
  TP_TRY(make_private_folder(folder));
  const auto ended = [&] { return api::encode(api::WorkerToAgent{api::FromWorker{*record.ended}}); };
  return replace_file(path_in(folder), canonical_json({{"start", api::encode(api::DaemonToAgent(record.order))},
                                                       {"generation", record.offer.generation},
                                                       {"rank", record.offer.rank},
                                                       {"blob", record.offer.blob},
                                                       {"started", record.started},
                                                       {"ended", record.ended ? ended() : std::string()}}) +
                                           "\n");
}

namespace {

// "": it has not ended. Nothing: damaged.
std::optional<std::optional<api::EndedMessage>> read_ended(const std::string& line) {
  if (line.empty()) return std::optional<api::EndedMessage>();
  const auto message = api::decode_worker_to_agent(line);
  const auto* said = message ? std::get_if<api::FromWorker>(&*message) : nullptr;
  const auto* ended = said == nullptr ? nullptr : std::get_if<api::EndedMessage>(said);
  return ended == nullptr ? std::nullopt : std::optional(std::optional(*ended));
}

}  // namespace

std::optional<SeatRecord> read_seat(const std::filesystem::path& folder) {
  const auto text = read_whole_file(path_in(folder));
  if (!text) return std::nullopt;
  const auto parsed = parse_json(*text);
  if (!parsed) return std::nullopt;
  std::vector<FieldError> errors;
  ObjectReader in(*parsed, "", errors);
  const auto order = api::decode_daemon_to_agent(in.required_text("start"));
  SeatOffer offer{.rank = static_cast<int>(in.required_integer("rank", {.low = 0, .high = 1'000'000})),
                  .blob = in.required_text("blob")};
  offer.generation = static_cast<GenerationNumber>(in.required_integer("generation", {.low = 0, .high = INT64_MAX}));
  const bool started = in.boolean("started", false);
  const auto ended = read_ended(in.text("ended", ""));
  in.finish();
  if (!errors.empty() || !ended || !order || !std::holds_alternative<api::StartWorker>(*order)) return std::nullopt;
  return SeatRecord{std::get<api::StartWorker>(*order), std::move(offer), started, *ended};
}

RestartableWorker without_program(SeatRecord record) {
  if (!record.started) return RestartableWorker(std::move(record.order));
  if (!record.ended) {
    record.ended = api::EndedMessage{.generation = record.offer.generation,
                                     .detail = "exited while no agent watched it; exit code unknown"};
  }
  return RestartableWorker(std::move(record.order), record.offer.rank, *std::move(record.ended));
}

}  // namespace tidepool::agent
