# C++ micro benchmarks, and the program that `make instructions` measures.

file(GLOB instruction_sources CONFIGURE_DEPENDS benchmarks/cpp/instructions/*.cpp)
add_executable(pyengine_instructions ${instruction_sources})
target_link_libraries(pyengine_instructions PRIVATE pyengine_core)

find_package(benchmark QUIET CONFIG)
file(GLOB benchmark_sources CONFIGURE_DEPENDS benchmarks/cpp/*.cpp)
if(NOT benchmark_FOUND)
  message(STATUS "pyengine: C++ benchmarks SKIPPED: google-benchmark not found (apt-get install libbenchmark-dev)")
elseif(benchmark_sources)
  add_executable(pyengine_benchmarks ${benchmark_sources})
  target_link_libraries(pyengine_benchmarks PRIVATE pyengine_core benchmark::benchmark_main)
endif()
