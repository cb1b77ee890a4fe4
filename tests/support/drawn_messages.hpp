// Random messages of the worker protocol. Their fields() say what there is to draw and between which ends, so a new
// kind or field is drawn without a line here; only a new form needs one, which the compiler asks for.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/worker_protocol_agent_fields.hpp"
#include "base/codec/text_writer.hpp"
#include "base/json.hpp"
#include "base/rng.hpp"

namespace tidepool::api::forms {

// The codec writes the document as text only, a tree has it as an object.
inline json encode_as(const std::string& document, const JobDocument&) {
  return json::parse(document);
}

}  // namespace tidepool::api::forms

namespace tidepool::test {

// Any whole number, small ones as often as large ones.
inline std::uint64_t any_bits(Rng& rng) {
  const std::uint64_t bits = rng.next();
  return bits >> rng.below(64);
}

inline std::string any_bytes(Rng& rng) {
  std::string bytes(rng.below(40), '\0');
  for (char& c : bytes) c = static_cast<char>(rng.below(256));
  return bytes;
}

inline std::string any_text(Rng& rng) {
  static const std::string kPieces[] = {"a", "\"", "\\", "\n", std::string(1, '\0'), "\xc3\xa9", "\xf0\x9f\x8c\x8a",
                                        "{", " "};
  std::string text;
  for (std::uint64_t i = rng.below(8); i > 0; --i) text += kPieces[rng.below(std::size(kPieces))];
  return text;
}

template <class T>
void draw(Rng& rng, T& value);

// --- by form ------------------------------------------------------------------------------------

template <std::integral N>
void draw_by(Rng& rng, N& value, const codec::Range& range) {
  const std::uint64_t low = static_cast<std::uint64_t>(range.low);
  const std::uint64_t width = static_cast<std::uint64_t>(range.high) - low;
  const std::uint64_t bits = any_bits(rng);
  const std::uint64_t offsets[] = {0, width, width == UINT64_MAX ? bits : bits % (width + 1)};
  value = static_cast<N>(low + offsets[std::min<std::uint64_t>(rng.below(9), 2)]);
}
inline void draw_by(Rng& rng, double& value, const codec::Between& between) {
  const double any[] = {between.low,
                        between.high,
                        0.0,
                        -0.0,
                        rng.normal(),
                        std::trunc(1e10 * rng.uniform()),
                        1e20 * rng.normal(),
                        std::exp(700 * rng.normal())};
  value = std::clamp(any[rng.below(std::size(any))], between.low, between.high);
}
template <class Tag>
void draw_by(Rng& rng, StrongId<Tag>& id, const codec::Given&) {
  id = StrongId<Tag>(std::max<std::uint64_t>(any_bits(rng), 1));
}
inline void draw_by(Rng& rng, std::string& bytes, const api::forms::Base64&) {
  bytes = any_bytes(rng);
}
inline void draw_by(Rng& rng, std::string& document, const api::forms::JobDocument&) {
  document = canonical_json({{"name", any_text(rng)}, {"depth", {{"list", {1, 2.5, nullptr, any_text(rng)}}}}});
}
inline void draw_by(Rng& rng, std::string& address, const api::forms::HostAddress&) {
  address = rng.chance(0.5) ? "10.1.2.3" : "fd00::1";
}
inline void draw_by(Rng& rng, std::string& part, const api::forms::IsolationPart&) {
  part = api::kIsolationParts[rng.below(std::size(api::kIsolationParts))];
}
inline void draw_by(Rng& rng, std::string& name, const api::forms::InstanceName&) {
  name = "i" + any_text(rng);
}
inline void draw_by(Rng& rng, bool& yes, const api::forms::YesOrNo&) {
  yes = rng.chance(0.5);
}
inline void draw_by(Rng& rng, std::int64_t& number, const api::forms::OfItsType&) {
  number = static_cast<std::int64_t>(any_bits(rng));
}
inline void draw_by(Rng& rng, WorkerId& worker, const api::forms::OfItsType&) {
  worker = WorkerId(any_bits(rng));
}
template <class T>
void draw_by(Rng& rng, T& value, const api::forms::OfItsType&) {
  draw(rng, value);
}

// Up to four, each by draw_one(element).
template <class T, class Draw>
void draw_list(Rng& rng, std::vector<T>& list, const Draw& draw_one) {
  list.resize(rng.below(5));
  for (T& element : list) draw_one(element);
}

template <class T, class Form>
void draw_as(Rng& rng, T& value, const Form& form) {
  if constexpr (codec::IsOptional<T>::value) {
    draw_as(rng, value.emplace(), form);
  } else if constexpr (codec::IsList<T>::value) {
    draw_list(rng, value, [&](auto& element) { draw_as(rng, element, form); });
  } else {
    draw_by(rng, value, form);
  }
}

// --- without a form -----------------------------------------------------------------------------

// An archive (base/codec/archive.hpp) that draws each field.
class FieldDrawer {
 public:
  explicit FieldDrawer(Rng& rng) : rng_(rng) {}
  void type(const char*) {}
  template <class T>
  void operator()(const char*, T& value) {
    draw(rng_, value);
  }
  template <class T, class Form>
  void operator()(const char*, T& value, const Form& form) {
    draw_as(rng_, value, form);
  }
  template <class T, class Form>
  void optional(const char*, T& value, const Form& form) {
    if (rng_.chance(0.3)) return codec::make_none(value);
    draw_as(rng_, value, form);
  }
  template <class T, class Form>
  void if_any(const char* name, std::optional<T>& value, const Form& form) {
    optional(name, value, form);
  }
  void constant(const char*, int) {}
  void check(bool holds, const char*, const char*) { sound_ = sound_ && holds; }
  // What must hold of fields together does.
  [[nodiscard]] bool sound() const { return sound_; }

 private:
  Rng& rng_;
  bool sound_ = true;
};

template <class Message>
void draw_fields(Rng& rng, Message& message) {
  for (bool sound = false; !sound;) {
    message = Message{};
    FieldDrawer drawer(rng);
    fields(drawer, message);
    sound = drawer.sound();
  }
}

template <class... Kinds>
void draw_kind(Rng& rng, std::variant<Kinds...>& value) {
  const std::uint64_t chosen = rng.below(sizeof...(Kinds));
  std::uint64_t at = 0;
  const auto take = [&]<class Kind>(Kind kind) {
    if (at++ != chosen) return;
    draw(rng, kind);
    value = std::move(kind);
  };
  (take(Kinds{}), ...);
}

template <class T>
void draw(Rng& rng, T& value) {
  if constexpr (std::same_as<T, bool>) {
    value = rng.chance(0.5);
  } else if constexpr (std::same_as<T, std::string>) {
    value = any_text(rng);
  } else if constexpr (codec::Named<T>) {
    const auto names = names_of(value);
    value = names[rng.below(names.size())].value;
  } else if constexpr (codec::IsList<T>::value) {
    draw_list(rng, value, [&](auto& element) { draw(rng, element); });
  } else if constexpr (codec::IsMap<T>::value) {
    value.clear();
    for (std::uint64_t i = rng.below(5); i > 0; --i) draw(rng, value[any_text(rng)]);
  } else if constexpr (codec::IsVariant<T>::value) {
    draw_kind(rng, value);
  } else {
    draw_fields(rng, value);
  }
}

template <class T>
T drawn(Rng& rng) {
  T value{};
  draw(rng, value);
  return value;
}

// Calls visit(message) with one of each kind that a link carries. A kind that is a variant stands for each of its own.
template <class Link, class Visit, class Kind = Link>
void draw_each_kind(Rng& rng, const Visit& visit, const Kind* = nullptr) {
  if constexpr (codec::IsVariant<Kind>::value) {
    [&]<class... Kinds>(const std::variant<Kinds...>*) {
      (draw_each_kind<Link>(rng, visit, static_cast<const Kinds*>(nullptr)), ...);
    }(static_cast<const Kind*>(nullptr));
  } else {
    visit(Link(drawn<Kind>(rng)));
  }
}

}  // namespace tidepool::test
