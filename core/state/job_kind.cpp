#include "core/state/job_kind.hpp"

#include <string_view>

#include "base/digest.hpp"
#include "base/number_text.hpp"
#include "base/overloaded.hpp"

namespace tidepool::core {
namespace {

// "17", "-0.5" and "1e-3" are; "resnet50" is not.
bool is_number(std::string_view word) {
  return parse_number<double>(word).has_value();
}

// For an option with its value in the same word, such as --rate=0.1, only the number is omitted.
void mix_word(std::string_view word, Digest& digest) {
  const std::size_t equals = word.find('=');
  if (equals != std::string_view::npos && is_number(word.substr(equals + 1))) word = word.substr(0, equals);
  if (!is_number(word)) digest.mix(word);
}

void mix_value(const Argument::Plain& value, Digest& digest) {
  std::visit(Overloaded{[&](bool yes) { digest.mix(yes ? "true" : "false"); },
                        [&](const std::string& text) { mix_word(text, digest); }, [](const auto&) {}},
             value);
}

void mix_argument(const Argument& argument, Digest& digest) {
  if (const auto* plain = std::get_if<Argument::Plain>(&argument.value)) return mix_value(*plain, digest);
  for (const Argument::Plain& value : std::get<std::vector<Argument::Plain>>(argument.value)) mix_value(value, digest);
}

}  // namespace

std::uint64_t kind_of(const JobSpec& spec) {
  const RunSpec& run = *spec.run;
  if (run.trainer.empty() && run.command.empty()) return 0;
  Digest digest;
  digest.mix(run.trainer);
  for (const std::string& word : run.command) mix_word(word, digest);
  for (const auto& [name, argument] : run.args) {
    digest.mix(name);
    mix_argument(argument, digest);
  }
  digest.mix(static_cast<std::uint64_t>(spec.batch.global)).mix(static_cast<std::uint64_t>(spec.batch.on_resize));
  digest.mix(static_cast<std::uint64_t>(spec.gpus_per_worker));
  return digest.value();
}

}  // namespace tidepool::core
