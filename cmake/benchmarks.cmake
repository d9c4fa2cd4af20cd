# C++ micro benchmarks, and the program that `make instructions` measures.

file(GLOB instruction_sources CONFIGURE_DEPENDS benchmarks/cpp/instructions/*.cpp)
# Hex is compiled into the program, like a built-in game, and as a library, like a game outside.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/cpp ${CMAKE_BINARY_DIR}/include/pyengine SYMBOLIC)
add_executable(pyengine_instructions ${instruction_sources} examples/hex/hex.cpp)
target_include_directories(pyengine_instructions SYSTEM PRIVATE ${CMAKE_BINARY_DIR}/include)
target_link_libraries(pyengine_instructions PRIVATE pyengine_core)
add_library(pyengine_outside_hex MODULE examples/hex/hex.cpp ${plugin_sources}
                                        benchmarks/cpp/instructions/outside/exported.cpp)
target_include_directories(pyengine_outside_hex SYSTEM PRIVATE ${CMAKE_BINARY_DIR}/include src/cpp
                           ${CMAKE_BINARY_DIR}/generated)
target_link_libraries(pyengine_outside_hex PRIVATE pyengine_flags)
target_compile_definitions(pyengine_instructions PRIVATE
                           PYENGINE_OUTSIDE_HEX="$<TARGET_FILE:pyengine_outside_hex>")
add_dependencies(pyengine_instructions pyengine_outside_hex)

find_package(benchmark QUIET CONFIG)
file(GLOB benchmark_sources CONFIGURE_DEPENDS benchmarks/cpp/*.cpp)
if(NOT benchmark_FOUND)
  message(STATUS "pyengine: C++ benchmarks SKIPPED: google-benchmark not found (apt-get install libbenchmark-dev)")
elseif(benchmark_sources)
  add_executable(pyengine_benchmarks ${benchmark_sources})
  target_link_libraries(pyengine_benchmarks PRIVATE pyengine_core benchmark::benchmark_main)
endif()
