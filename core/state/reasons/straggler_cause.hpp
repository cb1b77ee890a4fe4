// What a worker's slowness goes with.
#pragma once

namespace tidepool::core {

enum class Follows {
  kUnknown,  // it is alone on its node, which has not been probed: worker and node cannot be told apart
  kWorker,   // others run on its node, and they are not slow; or the node does what may be expected of it
  kNode,  // half of the others on its node are slow too, or the joining worker there that replaced a straggler is, or
          // the node is slow by its own probe
  kData,  // it replaced a straggler of another node and has been slow since: neither worker nor node is the cause
};

}  // namespace tidepool::core
