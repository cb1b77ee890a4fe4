// The messages as lines of JSON and back; worker_protocol_fields.hpp has their fields.
#include "api/worker_protocol_agent_fields.hpp"
#include "base/codec/archive.hpp"
#include "base/codec/text_writer.hpp"
#include "base/json.hpp"

namespace tidepool::api {

const char* to_text(PulsePhase phase) {
  return codec::enum_name(phase).value_or("waiting");
}

const char* to_text(NoticeAnswer answer) {
  return codec::enum_name(answer).value_or("saving");
}

std::optional<NoticeAnswer> notice_answer_of(std::string_view text) {
  for (const auto& entry : names_of(NoticeAnswer())) {
    if (entry.name == text) return entry.value;
  }
  return std::nullopt;
}

namespace {

template <class Message>
std::string line_of(const Message& message) {
  std::string line;
  codec::append(line, message);
  line += '\n';
  return line;
}

template <class Message>
Result<Message> read_line(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  const auto parsed = parse_json(line, {.bytes_max = kLineBytesMax, .depth_max = 32, .values_max = kLineBytesMax});
  if (!parsed) return parsed.error();
  Message message;
  if (const Status status = codec::decode(*parsed, "", message); !status) {
    return invalid_argument("the worker protocol is broken: " + status.error().message);
  }
  return message;
}

}  // namespace

std::string encode(const AgentToDaemon& message) {
  return line_of(message);
}
std::string encode(const DaemonToAgent& message) {
  return line_of(message);
}
std::string encode(const WorkerToAgent& message) {
  return line_of(message);
}
std::string encode(const ToWorker& message) {
  return line_of(message);
}
Result<AgentToDaemon> decode_agent_to_daemon(std::string_view line) {
  return read_line<AgentToDaemon>(line);
}
Result<DaemonToAgent> decode_daemon_to_agent(std::string_view line) {
  return read_line<DaemonToAgent>(line);
}
Result<WorkerToAgent> decode_worker_to_agent(std::string_view line) {
  return read_line<WorkerToAgent>(line);
}
Result<ToWorker> decode_to_worker(std::string_view line) {
  return read_line<ToWorker>(line);
}

}  // namespace tidepool::api
