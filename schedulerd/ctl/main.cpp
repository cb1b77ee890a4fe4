#include "schedulerd/ctl/app.hpp"

int main(int argc, char** argv) {
  return tidepool::ctl::run(argc, argv);
}
