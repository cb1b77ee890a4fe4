// The forms that values have in the worker protocol: ranges of numbers, and texts that have to be something.
#pragma once

#include <algorithm>
#include <cfloat>
#include <climits>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/base64.hpp"
#include "api/comm_address.hpp"
#include "api/worker_protocol.hpp"
#include "base/codec/archive.hpp"
#include "base/json.hpp"

namespace tidepool::api::forms {

using nlohmann::json;

inline constexpr codec::Range kAny{INT64_MIN, INT64_MAX};
inline constexpr codec::Range kNatural{0, kWorkMax};  // a thousand times that, and sums, are whole numbers still
inline constexpr codec::Range kNoticeMs{0, kReclaimNoticeMax.count_ms()};
inline constexpr codec::Range kPositive{1, kWorkMax};
inline constexpr codec::Range kReportSteps{1, 1'000'000};
inline constexpr codec::Range kStepsRedone{0, 1'000'000};
inline constexpr codec::Range kReportMicros{0, 1'000'000'000'000};
inline constexpr codec::Range kReportSamples{0, 1'000'000'000'000};
inline constexpr codec::Range kGeneration{0, UINT32_MAX};
inline constexpr codec::Range kInt{0, INT_MAX};
inline constexpr std::size_t kDeviceNameMax = 63;     // bytes, of a slot type too
inline constexpr std::size_t kTransferTextMax = 128;  // bytes, of what two agents find and know each other by
inline constexpr codec::Range kLength{1, kWorkMax};
inline constexpr codec::Range kVersion{1, 1'000'000};  // one that is not ours is read, to be refused in words
inline constexpr codec::Range kExitCode{-1, 255};
inline constexpr codec::Range kSignal{0, 127};
inline constexpr codec::Range kGraceMs{0, kGraceMax.count_ms()};
inline constexpr codec::Between kMillis{0, 1e12};
inline constexpr codec::Between kLoss{-DBL_MAX, DBL_MAX};
inline constexpr codec::Between kNoiseScale{0, DBL_MAX};
inline constexpr codec::Between kFigure{DBL_TRUE_MIN, 1e9};
inline constexpr codec::Given kId;

// Raw bytes.
struct Base64 {
  static json encode(const std::string& bytes) { return encode_base64(bytes); }
  static Status decode(const json& in, const std::string& where, std::string& bytes) {
    auto decoded = in.is_string() ? decode_base64(in.get_ref<const std::string&>()) : std::nullopt;
    if (!decoded) return codec::wrong(where, "base64 with padding");
    bytes = *std::move(decoded);
    return ok_status();
  }
};
inline constexpr Base64 kBase64;

// Held as its text.
struct JobDocument {
  static void append(std::string& out, const std::string& document) { out += document; }
  static Status decode(const json& in, const std::string& where, std::string& document) {
    if (!in.is_object()) return codec::wrong(where, "the job's document, an object");
    document = canonical_json(in);
    return ok_status();
  }
};
inline constexpr JobDocument kJobDocument;

struct HostAddress {
  static Status decode(const json& in, const std::string& where, std::string& address) {
    if (!in.is_string() || !is_host_address(in.get_ref<const std::string&>())) {
      return codec::wrong(where, "an IPv4 or IPv6 address that other nodes can reach");
    }
    address = in.get<std::string>();
    return ok_status();
  }
};
inline constexpr HostAddress kHostAddress;

// Written one by one, read as the list that may be left out. A part that only newer agents know is left out, too.
struct IsolationPart {
  static Status decode(const json& in, const std::string& where, std::vector<std::string>& parts) {
    if (!in.is_array() || !std::all_of(in.begin(), in.end(), [](const json& part) { return part.is_string(); })) {
      return codec::wrong(where, "a list of what a node can keep of its jobs, such as [\"uid\", \"mounts\"]");
    }
    parts = in.get<std::vector<std::string>>();
    std::erase_if(parts, [](const std::string& part) {
      return std::find(std::begin(kIsolationParts), std::end(kIsolationParts), part) == std::end(kIsolationParts);
    });
    return ok_status();
  }
};
inline constexpr IsolationPart kIsolation;

// As its type is read and written everywhere, where it may be left out: a list, or one that has fields() of its own.
struct OfItsType {
  template <class T>
  static Status decode(const json& in, const std::string& where, T& value) {
    return codec::decode(in, where, value);
  }
};
inline constexpr OfItsType kOfItsType;

struct InstanceName {
  static Status decode(const json& in, const std::string& where, std::string& name) {
    const bool fits = in.is_string() && !in.get_ref<const std::string&>().empty() && in.get<std::string>().size() <= 64;
    if (!fits) return codec::wrong(where, "a text of 1 to 64 characters");
    name = in.get<std::string>();
    return ok_status();
  }
};
inline constexpr InstanceName kInstance;

struct YesOrNo {
  static Status decode(const json& in, const std::string& where, bool& yes) {
    if (!in.is_boolean()) return codec::wrong(where, "true or false");
    yes = in.get<bool>();
    return ok_status();
  }
};
inline constexpr YesOrNo kYesOrNo;
inline constexpr codec::Range kPort{1, 65'535};

}  // namespace tidepool::api::forms
