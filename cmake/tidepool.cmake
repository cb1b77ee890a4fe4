# The only CMake logic of the project: one folder = one library, one test program = one label.
set(TIDEPOOL_SANITIZE "" CACHE STRING "Sanitizers for everything, such as address;undefined or thread")

# Up to 32 sources of a library or of a test program are compiled as one, because most of the time goes into what they
# share: headers, and templates that each would instantiate and compile anew. Measured on core, seven files of eight
# sources cost 58 s of processor time, two files 40 s. An edit then costs all of them, so it is for builds from nothing.
# Names that a source keeps to itself are unique within its target, but for one that is marked SEPARATE.
option(TIDEPOOL_UNITY "Compile several sources of a target at a time: faster from nothing, slower after an edit" OFF)

add_library(tidepool_options INTERFACE)
target_compile_features(tidepool_options INTERFACE cxx_std_20)
target_compile_options(tidepool_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wno-missing-field-initializers -Werror>)
# g++ 12 takes an empty std::optional for an uninitialised one.
target_compile_options(tidepool_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
if(TIDEPOOL_SANITIZE)
  list(JOIN TIDEPOOL_SANITIZE "," sanitizers)
  # -fno-sanitize=function: Boost's callbacks are called through their own types.
  set(sanitize_flags -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND sanitize_flags -fno-sanitize=function)
  endif()
  if("undefined" IN_LIST TIDEPOOL_SANITIZE AND "address" IN_LIST TIDEPOOL_SANITIZE AND NOT TIDEPOOL_LIBFUZZER)
    # A quarter of the time to compile; ASan sees null and what lies beyond an object, and x86 and ARM allow any address.
    list(APPEND sanitize_flags -fno-sanitize=null,alignment,object-size)
  endif()
  if(TIDEPOOL_LIBFUZZER)
    list(APPEND sanitize_flags -fsanitize=fuzzer-no-link)  # tells the fuzzer which branches an input took
  endif()
  target_compile_options(tidepool_options INTERFACE ${sanitize_flags})
  target_link_options(tidepool_options INTERFACE ${sanitize_flags})
endif()

# For programs that decide or simulate: a plan makes and drops many small objects, and mimalloc hands them out from near
# each other. A sanitizer has an allocator of its own.
add_library(tidepool_allocator INTERFACE)
add_library(tidepool::allocator ALIAS tidepool_allocator)
if(NOT TIDEPOOL_SANITIZE)
  find_package(mimalloc REQUIRED)
  target_link_libraries(tidepool_allocator INTERFACE mimalloc)
endif()

# For builds that are made to be tested once: see tidepool_compile_fast.
option(TIDEPOOL_QUICK_BUILD "Optimize less what waits for sockets, disks and people most of its time" OFF)

# Code that waits for sockets, disks and people most of its time: instrumented JSON and Catch's checks are what an
# optimizer chews on. Without it the dev build of such code takes half as long; a release build that inlines only what
# is small takes two thirds.
function(tidepool_compile_fast target)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${target} PRIVATE -O0)
  elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -O1 "SHELL:-mllvm -inline-threshold=25")
  endif()
endfunction()

# Code in which every decision is made: worth 4 % of a plan.
function(tidepool_compile_thoroughly target)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_compile_options(${target} PRIVATE -O3)
  endif()
endfunction()

# No source may rely on the precompiled header: the header check, clang-tidy and g++ read them without.
option(TIDEPOOL_PCH "Precompile the headers of the standard library, JSON and Catch (clang only)" ON)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # CMake says the same through -Xclang, behind which ccache does not make paths relative: clones would share nothing.
  set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
endif()

# tidepool_precompile(TARGET library|program|test): clang takes one only where optimization and the kind of position
# independence are the same, hence one for each kind that occurs.
function(tidepool_precompile target kind)
  if(NOT TIDEPOOL_PCH OR NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    return()
  endif()
  get_target_property(options ${target} COMPILE_OPTIONS)
  set(owner tidepool_pch_${kind})
  if("-O0" IN_LIST options)
    string(APPEND owner _unoptimized)
  endif()
  if(NOT TARGET ${owner})
    tidepool_pch_owner(${owner} ${kind} "${options}")
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

function(tidepool_pch_owner owner kind options)
  set(header ${PROJECT_SOURCE_DIR}/cmake/precompiled/library.hpp)
  if(kind STREQUAL "test")
    set(header ${PROJECT_SOURCE_DIR}/cmake/precompiled/test.hpp)
  endif()
  add_library(${owner} OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled/owner.cpp)
  target_precompile_headers(${owner} PRIVATE ${header})
  target_link_libraries(${owner} PRIVATE tidepool_options)
  target_compile_options(${owner} PRIVATE -Xclang -fno-pch-timestamp)
  if("-O0" IN_LIST options)
    target_compile_options(${owner} PRIVATE -O0)
  endif()
  if(kind STREQUAL "library")
    set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  # For ccache this stands for the file, which is another in each clone because it holds paths.
  set(sum "${CMAKE_CXX_COMPILER_VERSION}")
  foreach(part cmake/precompiled/library.hpp cmake/precompiled/test.hpp /usr/include/nlohmann/json.hpp
      /usr/include/catch2/catch.hpp)
    get_filename_component(part ${part} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(EXISTS ${part})
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${part})
      file(SHA256 ${part} digest)
      string(APPEND sum " ${digest}")
    endif()
  endforeach()
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${owner}.dir/cmake_pch.hxx.pch.sum "${sum}\n")
endfunction()

# tidepool_library(NAME [IO_BOUND] [SEPARATE] HEADERS ... SOURCES ... DEPS ...): every header must compile on its own.
function(tidepool_library name)
  cmake_parse_arguments(ARG "IO_BOUND;SEPARATE" "" "HEADERS;SOURCES;DEPS" ${ARGN})
  add_library(tidepool_${name} STATIC ${ARG_SOURCES})
  add_library(tidepool::${name} ALIAS tidepool_${name})
  target_sources(tidepool_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HEADERS})
  set_target_properties(tidepool_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON LINKER_LANGUAGE CXX
    POSITION_INDEPENDENT_CODE ON)
  if(TIDEPOOL_UNITY AND NOT ARG_SEPARATE)
    set_target_properties(tidepool_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 32)
  endif()
  target_compile_features(tidepool_${name} PUBLIC cxx_std_20)
  target_link_libraries(tidepool_${name} PUBLIC ${ARG_DEPS} PRIVATE tidepool_options)
  if(ARG_IO_BOUND AND (TIDEPOOL_QUICK_BUILD OR CMAKE_BUILD_TYPE STREQUAL "Debug"))
    tidepool_compile_fast(tidepool_${name})
  endif()
  tidepool_precompile(tidepool_${name} library)
endfunction()

# tidepool_program(NAME SOURCES ... DEPS ...): lands in bin/.
function(tidepool_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} tidepool_options)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  tidepool_precompile(${name} program)
  install(TARGETS ${name} RUNTIME)
endfunction()

# With N from 0 to 9, one in ten of the programs with the labels property and sim is built and run, others for each N:
# tools/check has each of them in the release build, and under sanitizers those of one N a commit.
set(TIDEPOOL_SEED_PROGRAMS all CACHE STRING "Programs with the labels property and sim: all, or 0 to 9 for a tenth")

function(tidepool_next_seed_program chosen)
  get_property(count GLOBAL PROPERTY TIDEPOOL_SEED_PROGRAM_COUNT)
  if(NOT count)
    set(count 0)
  endif()
  math(EXPR next "${count} + 1")
  set_property(GLOBAL PROPERTY TIDEPOOL_SEED_PROGRAM_COUNT ${next})
  math(EXPR tenth "${count} % 10")
  if(TIDEPOOL_SEED_PROGRAMS STREQUAL "all" OR TIDEPOOL_SEED_PROGRAMS EQUAL tenth)
    set(${chosen} TRUE PARENT_SCOPE)
  else()
    set(${chosen} FALSE PARENT_SCOPE)
  endif()
endfunction()

# tidepool_test(NAME LABEL SOURCES ... DEPS ... [TIMEOUT s] [SEPARATE]): a Catch2 program; LABEL is one of
# unit property golden sim integration fuzz bench webui lint. The target `seed_tests` is those whose claims are about seeds.
function(tidepool_test name label)
  cmake_parse_arguments(ARG "SEPARATE" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set(cost ${ARG_TIMEOUT})
  # A limit only ends a hang: what computes takes as long as a slow machine does under sanitizers.
  if(label MATCHES "^(property|sim)$" AND ARG_TIMEOUT LESS 900)
    set(ARG_TIMEOUT 900)
  elseif(ARG_TIMEOUT LESS 300)
    set(ARG_TIMEOUT 300)
  endif()
  if(TIDEPOOL_SANITIZE MATCHES "thread")
    math(EXPR ARG_TIMEOUT "10 * ${ARG_TIMEOUT}")  # as the preset's TIDEPOOL_PATIENCE
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} tidepool::test_main tidepool_options)
  if(label MATCHES "^(property|sim)$")
    target_link_libraries(${name} PRIVATE tidepool::allocator)  # they simulate for minutes
  endif()
  # What draws worlds from seeds computes for minutes, which sanitizers without an optimizer would make an hour.
  if(label MATCHES "^(unit|golden|integration)$" OR NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    tidepool_compile_fast(${name})
  endif()
  tidepool_precompile(${name} test)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(TIDEPOOL_UNITY AND NOT ARG_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 32)
  endif()
  if(label MATCHES "^(property|sim)$")
    if(NOT TARGET seed_tests)
      add_custom_target(seed_tests)
    endif()
    tidepool_next_seed_program(chosen)
    if(NOT chosen)
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
      return()
    endif()
    add_dependencies(seed_tests ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  # 77: every case was skipped (tests/support/skips.hpp). COST: what may take longest starts first, as long as ctest has
  # no times of an earlier run.
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${ARG_TIMEOUT} COST ${cost} SKIP_RETURN_CODE 77
    ENVIRONMENT "TIDEPOOL_SOURCE_DIR=${PROJECT_SOURCE_DIR};TIDEPOOL_BIN_DIR=${PROJECT_BINARY_DIR}/bin")
endfunction()
