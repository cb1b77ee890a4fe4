#include "workers/agent/transfer/sending.hpp"

#include "base/json.hpp"

namespace tidepool::agent {
namespace {

Result<std::string> text_field(const std::string& line, const char* name) {
  const auto document = parse_json(line, kPeerJson);
  if (!document.ok()) return document.error();
  const auto found = document->is_object() ? document->find(name) : document->end();
  if (found == document->end() || !found->is_string()) {
    return invalid_argument(std::string("another agent has sent no \"") + name + "\"");
  }
  return found->get<std::string>();
}

Result<std::int64_t> offset_in(const std::string& line, std::int64_t bytes) {
  const auto document = parse_json(line, kPeerJson);
  if (!document.ok()) return document.error();
  const auto found = document->is_object() ? document->find("offset") : document->end();
  if (found == document->end() || !found->is_number_integer()) return invalid_argument("no offset was asked for");
  const auto offset = found->get<std::int64_t>();
  const bool fits =
      offset >= 0 && offset <= bytes && (offset == bytes || offset % static_cast<std::int64_t>(kStateChunk) == 0);
  return fits ? Result(offset) : invalid_argument("the state cannot be sent from " + std::to_string(offset) + " on");
}

Status refuse(PeerLink& link, const Error& why) {
  (void)link.send(canonical_json({{"refused", why.message}}) + "\n");
  return why;
}

Status send_from(PeerLink& link, const OpenState& state, std::int64_t offset, const Sending& sending,
                 const std::stop_token& stop) {
  FileChecksum checksum;
  for (std::int64_t at = 0; at < state.bytes;) {
    const auto chunk = read_chunk(state.file.get(), at, state.bytes);
    if (!chunk.ok()) return chunk.error();
    checksum.add(*chunk);
    const auto size = static_cast<std::int64_t>(chunk->size());
    if (stop.stop_requested()) return io_error("this agent ends");
    if (at >= offset) {
      if (!sending.pace(size, stop)) return io_error("this agent ends");
      TP_TRY(link.send(frame_of(*chunk)));
    }
    at += size;
  }
  return link.send(end_frame(checksum.value()));
}

}  // namespace

Result<std::string> send_state(PeerLink& link, const Sending& sending, const std::stop_token& stop) {
  const auto line = link.read_line();
  if (!line.ok()) return line.error();
  const auto ticket = text_field(*line, "ticket");
  if (!ticket.ok()) return ticket.error();
  const auto grant = sending.redeem(*ticket, link.peer_print());
  if (!grant.ok()) return refuse(link, grant.error()).error();
  link.hurry(std::nullopt);
  sending.admitted();
  const auto state = sending.open(*grant);
  if (!state.ok()) return refuse(link, state.error()).error();
  TP_TRY(link.send(canonical_json({{"name", state->name}, {"bytes", state->bytes}}) + "\n"));
  const auto wanted = link.read_line();
  if (!wanted.ok()) return wanted.error();
  const auto offset = offset_in(*wanted, state->bytes);
  if (!offset.ok()) return offset.error();
  TP_TRY(send_from(link, *state, *offset, sending, stop));
  // The other side closes once it has everything, so that no data in transit is cut off.
  std::byte none{};
  (void)link.read_some(std::span(&none, 1));
  return "the state of step " + std::to_string(grant->step) + " of " + grant->job.text() +
         " is sent: " + std::to_string(state->bytes - *offset) + " of " + std::to_string(state->bytes) + " bytes";
}

}  // namespace tidepool::agent
