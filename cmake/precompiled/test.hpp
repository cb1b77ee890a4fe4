// What the sources of tests share beside the rest: Catch.
#pragma once

#include "library.hpp"

#include <catch2/catch.hpp>
