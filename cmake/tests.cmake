# C++ unit tests: one program whose test suites select what runs in which build.

find_package(doctest QUIET CONFIG)
if(NOT doctest_FOUND)
  message(NOTICE "pyengine: doctest is not installed, downloading it. "
                 "If that fails: apt-get install doctest-dev")
  include(FetchContent)
  # We only need the header, and CMake 4 rejects doctest's project, so SOURCE_SUBDIR names a folder
  # without a CMakeLists.txt.
  FetchContent_Declare(doctest
    URL https://github.com/doctest/doctest/archive/refs/tags/v2.4.11.tar.gz
    URL_HASH SHA256=632ed2c05a7f53fa961381497bf8069093f0d6628c5f26286161fbd32a560186
    SOURCE_SUBDIR doctest)
  FetchContent_MakeAvailable(doctest)
  add_library(doctest::doctest INTERFACE IMPORTED)
  set_target_properties(doctest::doctest PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${doctest_SOURCE_DIR})
endif()

enable_testing()
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/cpp/*/test_*.cpp)
list(FILTER test_sources EXCLUDE REGEX failing_allocator)
if(PYENGINE_SANITIZE STREQUAL thread)
  # ThreadSanitizer runs only the suite "concurrent", so files without such tests are not compiled.
  foreach(source ${test_sources})
    file(STRINGS ${source} concurrent REGEX "\"concurrent\"" LIMIT_COUNT 1)
    if(NOT concurrent)
      list(REMOVE_ITEM test_sources ${source})
    endif()
  endforeach()
endif()
add_library(pyengine_test_main OBJECT tests/cpp/main.cpp)
target_link_libraries(pyengine_test_main PUBLIC pyengine_flags doctest::doctest)
add_executable(pyengine_tests ${test_sources})
target_include_directories(pyengine_tests PRIVATE tests/cpp)
target_link_libraries(pyengine_tests PRIVATE pyengine_core pyengine_test_main)
if(NOT PYENGINE_DEV)
  # A unity build compiles a third faster, but a change recompiles a whole batch of files.
  set_target_properties(pyengine_tests PROPERTIES UNITY_BUILD ON)
endif()
# Only for files that read third-party test cases, so that ccache can share all other objects
# between checkouts.
set_source_files_properties(tests/cpp/exact/test_solver.cpp tests/cpp/exact/test_othello_ffo.cpp
  PROPERTIES COMPILE_DEFINITIONS PYENGINE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

# Labels: unit (one test per folder), concurrent (run under ThreadSanitizer) and slow.
function(pyengine_suite name label)
  add_test(NAME ${name} COMMAND pyengine_tests ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 3600 FAIL_REGULAR_EXPRESSION "test cases: +0 ")
endfunction()
list(TRANSFORM test_sources REPLACE "^.*/tests/cpp/(.*)/[^/]*$" "\\1" OUTPUT_VARIABLE folders)
list(REMOVE_DUPLICATES folders)
foreach(folder ${folders})
  pyengine_suite(${folder} unit --source-file=*/tests/cpp/${folder}/* --test-suite-exclude=concurrent,slow)
endforeach()
pyengine_suite(concurrent concurrent --test-suite=concurrent)
set_tests_properties(concurrent PROPERTIES RUN_SERIAL ON)
pyengine_suite(slow slow --test-suite=slow)

# Searches with an operator new that fails: a separate program, because it replaces the global one.
# Omitted from release builds, where linking it would optimise the whole core again, and the
# sanitizers detect more errors anyway.
if(PYENGINE_SANITIZE OR PYENGINE_DEV)
  file(GLOB failing_sources CONFIGURE_DEPENDS tests/cpp/failing_allocator/*.cpp)
  add_executable(pyengine_failing_allocator ${failing_sources})
  target_include_directories(pyengine_failing_allocator PRIVATE tests/cpp)
  target_link_libraries(pyengine_failing_allocator PRIVATE pyengine_core pyengine_test_main)
  add_test(NAME failing_allocator COMMAND pyengine_failing_allocator)
  set_tests_properties(failing_allocator PROPERTIES LABELS "unit;concurrent" TIMEOUT 3600)
endif()
