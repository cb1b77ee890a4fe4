#include "workers/agent/transfer/receiving.hpp"

#include <array>
#include <utility>

#include "base/json.hpp"

namespace tidepool::agent {
namespace {

constexpr std::size_t kReadBytes = 65'536;
constexpr std::int64_t kLooksThroughAtLeast = 50'000'000;  // bytes per second

struct Manifest {
  std::string name;
  std::int64_t bytes = 0;
};

// The name becomes a file's name here: it must be the name of such a state.
Result<Manifest> manifest_in(const std::string& line, const Receiving& receiving) {
  const auto document = parse_json(line, kPeerJson);
  if (!document.ok()) return document.error();
  if (!document->is_object()) return invalid_argument("the other agent does not say what it sends");
  const auto refused = document->find("refused");
  if (refused != document->end() && refused->is_string()) {
    return io_error("the other agent refuses: " + refused->get<std::string>());
  }
  const auto name = document->find("name");
  const auto bytes = document->find("bytes");
  const bool told = name != document->end() && name->is_string() && bytes != document->end() &&
                    bytes->is_number_integer() && bytes->get<std::int64_t>() >= 0;
  if (!told) return invalid_argument("the other agent does not say what it sends");
  Manifest manifest{.name = name->get<std::string>(), .bytes = bytes->get<std::int64_t>()};
  if (!receiving.files.is_state(manifest.name, receiving.job, receiving.step)) {
    return invalid_argument("the other agent sends another file than the state that was asked for");
  }
  return manifest;
}

}  // namespace

Result<std::int64_t> receive_state(PeerLink& link, const Receiving& receiving) {
  TP_TRY(link.send(canonical_json({{"ticket", receiving.ticket}}) + "\n"));
  const auto line = link.read_line();
  if (!line.ok()) return line.error();
  const auto manifest = manifest_in(*line, receiving);
  if (!manifest.ok()) return manifest.error();
  const auto folder = receiving.files.incoming(receiving.job);
  if (!folder.ok()) return folder.error();
  auto file = IncomingFile::open(*folder, manifest->name, manifest->bytes, [&] {
    receiving.bytes_came();
    return !receiving.stop.stop_requested();
  });
  if (!file.ok()) return file.error();
  TP_TRY(link.send(canonical_json({{"offset", file->offset()}}) + "\n"));
  // The other side also reads the part that is already here, for the checksum.
  const Duration looks_through = Duration::seconds(file->offset() / kLooksThroughAtLeast);
  PeerLink::Waiting for_first{.most = kPeerPatience + looks_through, .meanwhile = receiving.bytes_came};
  FrameReader reader;
  std::array<std::byte, kReadBytes> buffer{};
  for (;;) {
    auto frame = reader.next();
    if (!frame.ok()) return frame.error();
    if (!*frame) {
      const auto got = link.read_some(buffer, std::exchange(for_first, {}));
      if (!got.ok()) return got.error();
      reader.append(std::span(buffer).first(*got));
      receiving.bytes_came();
      continue;
    }
    if ((*frame)->chunk.empty()) {
      TP_TRY(file->finish((*frame)->checksum));
      return manifest->bytes;
    }
    TP_TRY(file->add(**frame));
  }
}

}  // namespace tidepool::agent
