#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "workers/runtime/session.hpp"
#include "workers/runtime/tidepool.h"

using tidepool::runtime::BatchChoice;
using tidepool::runtime::BatchQuestion;
using tidepool::runtime::Ending;
using tidepool::runtime::Reduced;
using tidepool::runtime::Session;

struct tidepool_session {
  std::unique_ptr<Session> session;
  std::optional<tidepool::runtime::Step> step;
  std::size_t gradient_count = 0;
  std::set<std::string> registered;
  bool lent = false;  // the gradients are the program's own, on its GPU
  bool joined = false;
  bool in_step = false;     // next_step returned a step that is neither reduced nor abandoned
  bool may_commit = false;  // reduce returned COMMIT
};

namespace {

// One buffer per thread, written without an allocation that could fail.
thread_local char last_error[1024];

// Copies whole UTF-8 characters only and terminates with a 0.
template <std::size_t kSize>
void copy_text(std::string_view text, char (&out)[kSize]) {
  std::size_t length = std::min(text.size(), kSize - 1);
  while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) --length;
  std::memcpy(out, text.data(), length);
  out[length] = '\0';
}

int fail(int code, std::string_view message) {
  copy_text(message, last_error);
  return code;
}

// No exception may propagate into C.
template <class Call>
int guarded(Call call) {
  try {
    return call();
  } catch (const std::exception& error) {
    return fail(TIDEPOOL_FAILED, error.what());
  }
}

// A caller built against an older header has a shorter struct: fields beyond its end are not written.
template <class Struct>
int give(const Struct& value, Struct* out) {
  const std::size_t size = out->struct_size;
  if (size < sizeof(std::size_t)) return fail(TIDEPOOL_INVALID, "struct_size is not set: use sizeof of the struct");
  std::memcpy(out, &value, std::min(size, sizeof value));
  out->struct_size = size;
  return TIDEPOOL_OK;
}

// The options in the library's first version; later fields follow.
constexpr std::size_t kFirstOptions = offsetof(tidepool_options, on_resize);

// Wraps the program's function for the session.
auto rule_of(const tidepool_options& given) {
  return [rule = given.resize_rule, user = given.resize_user](const BatchQuestion& question) {
    tidepool_resize resize{.struct_size = sizeof(tidepool_resize),
                           .size = question.size,
                           .step = question.step,
                           .noise_scale = question.noise_scale.value_or(-1),
                           .global_batch = question.global_batch,
                           .lr_factor = question.lr_factor};
    rule(user, &resize);
    return BatchChoice{.global_batch = resize.global_batch, .lr_factor = resize.lr_factor};
  };
}

tidepool::Status read_options(const tidepool_options& given, tidepool::runtime::SessionOptions& settings) {
  if (given.on_resize < TIDEPOOL_ON_RESIZE_CONSTANT || given.on_resize > TIDEPOOL_ON_RESIZE_FIXED_LOCAL) {
    return tidepool::invalid_argument("options.on_resize is " + std::to_string(given.on_resize) +
                                      "; use one of the TIDEPOOL_ON_RESIZE_ values");
  }
  if (given.base_size < 0 || given.warmup_steps < 0) {
    return tidepool::invalid_argument("options.base_size and options.warmup_steps must not be negative");
  }
  settings.samples = given.samples;
  settings.global_batch = given.global_batch;
  settings.seed = given.seed;
  settings.steps = given.steps;
  settings.work_samples = given.work_samples;
  settings.global_batch_max = given.global_batch_max;
  settings.on_resize = static_cast<tidepool::runtime::OnResize>(given.on_resize);
  settings.base_size = std::max(given.base_size, 1);
  settings.warmup_steps = given.warmup_steps;
  settings.per_worker_max = given.per_worker_max;
  settings.noise_every = given.noise_every;
  if (given.resize_rule != nullptr) settings.batch_rule = rule_of(given);
  return tidepool::ok_status();
}

std::int64_t unix_ms_of(tidepool::runtime::WallTime at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

// Clamps times that the clock type cannot represent.
tidepool::runtime::WallTime wall_time_of(std::int64_t unix_ms) {
  constexpr std::int64_t kMost = 9'000'000'000'000;  // in the year 2255
  const auto since = std::chrono::milliseconds(std::clamp<std::int64_t>(unix_ms, 0, kMost));
  return tidepool::runtime::WallTime(std::chrono::duration_cast<tidepool::runtime::WallTime::duration>(since));
}

// Registers one piece of the state through `add`; returns its errors to the caller.
template <class Add>
int register_piece(tidepool_session* session, const char* name, std::span<std::byte> memory, Add add) {
  if (session == nullptr || name == nullptr || (memory.data() == nullptr && !memory.empty())) {
    return fail(TIDEPOOL_INVALID, "session, name and memory must not be NULL");
  }
  if (session->joined) return fail(TIDEPOOL_INVALID, "state is registered before tidepool_join()");
  const std::string quoted = std::string("\"") + name + "\"";
  if (memory.empty()) {
    return fail(TIDEPOOL_INVALID, quoted + " has 0 bytes: give its size in bytes, or do not register it");
  }
  if (session->registered.contains(name)) {
    return fail(TIDEPOOL_INVALID, quoted + " is registered already: give each piece of the state a name of its own");
  }
  if (const tidepool::Status status = add(); !status.ok()) return fail(TIDEPOOL_INVALID, status.error().message);
  session->registered.insert(name);
  return TIDEPOOL_OK;
}

int ending_code(const Session& session) {
  switch (session.ending()) {
    case Ending::kFinished: return TIDEPOOL_FINISHED;
    case Ending::kLeft: return TIDEPOOL_LEFT;
    case Ending::kFailed: return fail(TIDEPOOL_FAILED, session.failure().message);
    case Ending::kNone: break;
  }
  return TIDEPOOL_OK;
}

}  // namespace

int tidepool_abi_version(void) {
  return TIDEPOOL_ABI_VERSION;
}

const char* tidepool_last_error(void) {
  return last_error;
}

int tidepool_open(const tidepool_options* options, tidepool_session** session) {
  return guarded([&] {
    if (options == nullptr || session == nullptr) return fail(TIDEPOOL_INVALID, "options and session must not be NULL");
    *session = nullptr;
    if (options->struct_size < kFirstOptions) {
      return fail(TIDEPOOL_INVALID, "options.struct_size is too small: use sizeof(tidepool_options)");
    }
    tidepool_options given{};  // fields that an older caller does not know stay 0
    std::memcpy(&given, options, std::min(options->struct_size, sizeof given));
    auto settings = tidepool::runtime::SessionOptions::from_environment();
    if (!settings.ok()) return fail(TIDEPOOL_INVALID, settings.error().message);
    if (const auto status = read_options(given, *settings); !status.ok()) {
      return fail(TIDEPOOL_INVALID, status.error().message);
    }
    auto opened = Session::open(*settings);
    if (!opened.ok()) return fail(TIDEPOOL_INVALID, opened.error().message);
    *session = new tidepool_session{.session = std::move(*opened)};
    return TIDEPOOL_OK;
  });
}

int tidepool_register(tidepool_session* session, const char* name, void* memory, size_t bytes) {
  const std::span<std::byte> piece(static_cast<std::byte*>(memory), bytes);
  return guarded([&] {
    return register_piece(session, name, piece, [&] {
      session->session->register_state(name, piece);
      return tidepool::ok_status();
    });
  });
}

float* tidepool_gradients(tidepool_session* session, size_t count) {
  float* buffer = nullptr;
  static_cast<void>(guarded([&] {
    if (session == nullptr || count == 0) return fail(TIDEPOOL_INVALID, "session and count must not be NULL and 0");
    if (session->gradient_count != 0 && session->gradient_count != count) {
      return fail(TIDEPOOL_INVALID, "the gradient buffer keeps its length: ask for the same count again");
    }
    if (session->lent) return fail(TIDEPOOL_INVALID, "this session sums the memory that was lent to it");
    session->gradient_count = count;
    const auto span = session->session->gradients(count);
    buffer = span.data();
    return TIDEPOOL_OK;
  }));
  return buffer;
}

int tidepool_use_stream(tidepool_session* session, void* stream) {
  return guarded([&] {
    if (session == nullptr) return fail(TIDEPOOL_INVALID, "session must not be NULL");
    const auto status = session->session->use_stream(stream);
    return status.ok() ? TIDEPOOL_OK : fail(TIDEPOOL_FAILED, status.error().message);
  });
}

int tidepool_register_device(tidepool_session* session, const char* name, void* memory, size_t bytes) {
  const std::span<std::byte> piece(static_cast<std::byte*>(memory), bytes);
  return guarded([&] {
    return register_piece(session, name, piece, [&] { return session->session->register_on_device(name, piece); });
  });
}

int tidepool_lend_gradients(tidepool_session* session, float* memory, size_t count) {
  return guarded([&] {
    if (session == nullptr || memory == nullptr || count == 0) {
      return fail(TIDEPOOL_INVALID, "session, memory and count must not be NULL and 0");
    }
    if (session->joined || session->gradient_count != 0) {
      return fail(TIDEPOOL_INVALID,
                  "the gradients are lent once, before tidepool_join(), instead of tidepool_gradients()");
    }
    const auto status = session->session->lend_gradients({memory, count});
    if (!status.ok()) return fail(TIDEPOOL_INVALID, status.error().message);
    session->gradient_count = count;
    session->lent = true;
    return TIDEPOOL_OK;
  });
}

int tidepool_join(tidepool_session* session) {
  return guarded([&] {
    if (session == nullptr || session->joined) return fail(TIDEPOOL_INVALID, "a session joins once");
    session->joined = true;
    const auto status = session->session->join();
    return status.ok() ? TIDEPOOL_OK : fail(TIDEPOOL_FAILED, status.error().message);
  });
}

int tidepool_next_step(tidepool_session* session, tidepool_step* step) {
  return guarded([&] {
    if (session == nullptr || step == nullptr) return fail(TIDEPOOL_INVALID, "session and step must not be NULL");
    if (!session->joined || session->may_commit) {
      return fail(TIDEPOOL_INVALID, "tidepool_next_step() comes after join, and after the commit of the step before");
    }
    session->step = session->session->next_step();
    session->in_step = session->step.has_value();
    if (!session->step) return ending_code(*session->session);
    const int given = give({.struct_size = 0,
                            .number = session->step->number,
                            .epoch = session->step->epoch,
                            .samples = session->step->samples.data(),
                            .sample_count = session->step->samples.size(),
                            .rank = session->session->rank(),
                            .size = session->session->size(),
                            .generation = session->session->generation(),
                            .global_batch = session->step->global_batch,
                            .lr_factor = session->step->lr_factor,
                            .momentum_factor = session->step->momentum_factor,
                            .noise_scale = session->step->noise_scale.value_or(-1),
                            .part = session->step->part},
                           step);
    return given == TIDEPOOL_OK ? TIDEPOOL_STEP : given;
  });
}

int tidepool_bucket_ready(tidepool_session* session, size_t first, size_t count) {
  return guarded([&] {
    if (session == nullptr || !session->in_step) {
      return fail(TIDEPOOL_INVALID, "tidepool_bucket_ready() comes between next_step and reduce");
    }
    const auto status = session->session->bucket_ready(first, count);
    return status.ok() ? TIDEPOOL_OK : fail(TIDEPOOL_INVALID, status.error().message);
  });
}

int tidepool_reduce(tidepool_session* session, double loss_sum, tidepool_totals* totals) {
  return guarded([&] {
    if (session == nullptr || totals == nullptr) return fail(TIDEPOOL_INVALID, "session and totals must not be NULL");
    if (!session->in_step) return fail(TIDEPOOL_INVALID, "tidepool_reduce() follows tidepool_next_step()");
    session->in_step = false;
    if (session->session->reduce(loss_sum) == Reduced::kRetry) return TIDEPOOL_RETRY;
    session->may_commit = true;
    const auto& sums = session->session->totals();
    const int given = give({.struct_size = 0, .samples = sums.samples, .mean_loss = sums.mean_loss}, totals);
    return given == TIDEPOOL_OK ? TIDEPOOL_COMMIT : given;
  });
}

int tidepool_commit(tidepool_session* session) {
  return guarded([&] {
    if (session == nullptr || !session->may_commit) {
      return fail(TIDEPOOL_INVALID, "tidepool_commit() follows a tidepool_reduce() that said TIDEPOOL_COMMIT");
    }
    session->may_commit = false;
    session->session->commit();
    return TIDEPOOL_OK;
  });
}

int tidepool_finish(tidepool_session* session) {
  return guarded([&] {
    if (session == nullptr || !session->joined || session->may_commit) {
      return fail(TIDEPOOL_INVALID, "tidepool_finish() comes after the commit of the last step");
    }
    session->session->finish();
    return TIDEPOOL_OK;
  });
}

int tidepool_notice(tidepool_session* session, tidepool_leave_notice* notice) {
  return guarded([&] {
    if (session == nullptr || notice == nullptr) return fail(TIDEPOOL_INVALID, "session and notice must not be NULL");
    const auto told = session->session->notice();
    if (!told) return TIDEPOOL_OK;
    tidepool_leave_notice filled{.struct_size = 0,
                                 .by_unix_ms = unix_ms_of(told->by),
                                 .said = static_cast<std::int32_t>(told->said),
                                 .heard = static_cast<std::int32_t>(told->heard),
                                 .granted = told->granted ? 1 : 0,
                                 .decision = {},
                                 .reason = {},
                                 .sentence = {}};
    copy_text(told->decision.text(), filled.decision);
    copy_text(told->reason, filled.reason);
    copy_text(told->sentence, filled.sentence);
    const int given = give(filled, notice);
    return given == TIDEPOOL_OK ? TIDEPOOL_NOTICE : given;
  });
}

int tidepool_answer(tidepool_session* session, int32_t answer, int64_t until_unix_ms) {
  return guarded([&] {
    if (session == nullptr) return fail(TIDEPOOL_INVALID, "session must not be NULL");
    if (answer < TIDEPOOL_ANSWER_SAVING || answer > TIDEPOOL_ANSWER_REFUSE) {
      return fail(TIDEPOOL_INVALID,
                  "the answer is " + std::to_string(answer) + "; use one of the TIDEPOOL_ANSWER_ values");
    }
    // The values equal those of the protocol, starting at 1.
    const auto said = static_cast<tidepool::api::NoticeAnswer>(answer - TIDEPOOL_ANSWER_SAVING);
    const auto status = session->session->answer(said, wall_time_of(until_unix_ms));
    return status.ok() ? TIDEPOOL_OK : fail(TIDEPOOL_INVALID, status.error().message);
  });
}

int tidepool_close(tidepool_session* session) {
  return guarded([&] {
    if (session == nullptr) return TIDEPOOL_OK;
    const std::unique_ptr<tidepool_session> owned(session);
    return ending_code(*owned->session);
  });
}
