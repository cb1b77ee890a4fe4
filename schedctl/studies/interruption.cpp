#include "schedctl/studies/interruption.hpp"

namespace tidepool::ctl {
namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

Interruption::Interruption() {
  interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &before_);
}

Interruption::~Interruption() {
  sigaction(SIGINT, &before_, nullptr);
}

bool Interruption::asked() const {
  return interrupted != 0;
}

}  // namespace tidepool::ctl
