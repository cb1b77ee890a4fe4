// A worker whose program does not support generations: the agent holds its slots, and ends and starts its program. This
// is a value that returns the next steps and does nothing itself. At most one program of a restartable worker runs at
// once, and it is always of the newest generation or about to end.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/worker_protocol.hpp"

namespace tidepool::agent {

class RestartableWorker {
 public:
  // --- what to do next ---------------------------------------------------------------------------
  struct SendMessage {
    api::FromWorker message;
  };
  // Send the address of this rank's program, once and for the whole generation.
  struct OfferAddress {
    GenerationNumber generation = 0;
    int rank = 0;
  };
  struct EndProgram {};  // with notice, within the order's grace time
  struct StartProgram {
    GenerationNumber generation = 0;
    int rank = 0;
    std::vector<std::string> addresses;  // of all ranks
  };
  struct Leave {};  // nothing of it runs: the worker exits
  using Step = std::variant<SendMessage, OfferAddress, EndProgram, StartProgram, Leave>;
  using Steps = std::vector<Step>;

  explicit RestartableWorker(api::StartWorker order) : order_(std::move(order)) {}
  // Continues with a program that an earlier agent started.
  RestartableWorker(api::StartWorker order, GenerationNumber generation, int rank)
      : order_(std::move(order)),
        newest_(generation),
        launched_(generation),
        rank_(rank),
        offered_(true),
        program_(Program::kRuns) {}

  // Continues after a program that has since ended on its own.
  RestartableWorker(api::StartWorker order, int rank, api::EndedMessage ended)
      : order_(std::move(order)),
        newest_(ended.generation),
        launched_(ended.generation),
        rank_(rank),
        offered_(true),
        program_(Program::kEnded),
        ended_(std::move(ended)) {}

  [[nodiscard]] const api::StartWorker& order() const { return order_; }
  // How the program of the newest generation ended on its own; nothing if it has not.
  [[nodiscard]] std::optional<api::EndedMessage> ended() const {
    return program_ == Program::kEnded ? std::optional(ended_) : std::nullopt;
  }
  [[nodiscard]] bool has_program() const { return program_ == Program::kRuns; }

  // Messages that the daemon may have missed.
  [[nodiscard]] Steps resend() const;
  [[nodiscard]] Steps on_message(const api::ToWorker& message);
  [[nodiscard]] Steps stop();  // permanently; the caller ends its program
  // Call when the program has ended or could not be started.
  [[nodiscard]] Steps program_ended(int exit_code, int signal, const std::string& detail);

 private:
  enum class Program { kNone, kRuns, kEnded };  // of the newest generation; kRuns also while an older one is ending

  [[nodiscard]] Steps on_generation(const api::GenerationMessage& message);
  [[nodiscard]] Steps on_addresses(const api::AddressesMessage& message);
  [[nodiscard]] Steps go_on();

  api::StartWorker order_;
  GenerationNumber newest_ = 0;    // that it has received
  GenerationNumber launched_ = 0;  // of the newest program
  int rank_ = 0;                   // in generation newest_
  bool offered_ = false;           // its address in newest_ has been sent
  bool leaves_ = false;
  bool outdated_ = false;  // the program is of an older generation and was asked to end
  Program program_ = Program::kNone;
  api::EndedMessage ended_;  // with kEnded
};

}  // namespace tidepool::agent
