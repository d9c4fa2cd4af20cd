# C++ unit tests. One program; suites choose what runs where (tests/cpp/main.cpp).

find_package(doctest QUIET CONFIG)
if(NOT doctest_FOUND)
  message(NOTICE "pyengine: doctest is not installed, downloading it. "
                 "If that fails: apt-get install doctest-dev")
  include(FetchContent)
  # SOURCE_SUBDIR names a folder without a CMakeLists.txt: the header is all we need, and CMake 4
  # refuses doctest's own project.
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
  # ThreadSanitizer runs one suite: the files without a case of it are left out.
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
  # Compiled several at a time, the files take two thirds of the time; a change recompiles its batch.
  set_target_properties(pyengine_tests PROPERTIES UNITY_BUILD ON)
endif()
# Only the files that read third-party cases: the others compile to the same object in any checkout.
set_source_files_properties(tests/cpp/exact/test_solver.cpp tests/cpp/exact/test_othello_ffo.cpp
  PROPERTIES COMPILE_DEFINITIONS PYENGINE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

# `ctest -L unit` (a test for each folder), `-L concurrent` (what ThreadSanitizer is run on), `-L slow`.
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

# Searches under an operator new that fails: a program of its own, since it replaces everybody's.
# The sanitizers see more of it than a release build, whose link optimises the whole core again.
if(PYENGINE_SANITIZE OR PYENGINE_DEV)
  file(GLOB failing_sources CONFIGURE_DEPENDS tests/cpp/failing_allocator/*.cpp)
  add_executable(pyengine_failing_allocator ${failing_sources})
  target_include_directories(pyengine_failing_allocator PRIVATE tests/cpp)
  target_link_libraries(pyengine_failing_allocator PRIVATE pyengine_core pyengine_test_main)
  add_test(NAME failing_allocator COMMAND pyengine_failing_allocator)
  set_tests_properties(failing_allocator PROPERTIES LABELS "unit;concurrent" TIMEOUT 3600)
endif()
