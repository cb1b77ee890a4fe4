// What a worker's slowness is associated with.
#pragma once

namespace tidepool::core {

enum class Follows {
  kUnknown,  // the worker is alone on its node, which was not probed: worker and node cannot be distinguished
  kWorker,   // other workers on its node are not slow; or the node has its expected speed
  kNode,  // half of the others on its node are slow too, or the joining worker there that replaced a straggler is, or
          // the node is slow by its own probe
  kData,  // it replaced a straggler of another node and has been slow since: neither worker nor node is the cause
};

}  // namespace tidepool::core
