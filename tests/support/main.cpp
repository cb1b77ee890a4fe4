// The one main of all Catch2 programs; it costs ten seconds to compile, so it is compiled once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
