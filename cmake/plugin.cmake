# What the wheel contains for games in C++ in other packages: headers, the sources that their modules
# compile, and the CMake package.

# Functions that a game's code calls. They have no state, so each module has its own copy.
set(plugin_sources
  src/cpp/base/memory.cpp
  src/cpp/base/rng.cpp
  src/cpp/exact/alphabeta/table.cpp
  src/cpp/games/any/setup_check.cpp
  src/cpp/games/common/default_text.cpp
  src/cpp/games/common/grid_text.cpp
  src/cpp/games/common/line_playout.cpp
  src/cpp/games/common/params.cpp
  src/cpp/games/common/placement.cpp
  src/cpp/games/common/symmetry.cpp
  src/cpp/plugin/check_traits.cpp
  src/cpp/search/run/lease.cpp
  src/cpp/search/tree/edges.cpp
  src/cpp/search/tree/growth.cpp
  src/cpp/search/tree/positions.cpp)
file(GLOB_RECURSE plugin_headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} src/cpp/*.h)
list(FILTER plugin_headers EXCLUDE REGEX "src/cpp/(eval/ort|exact/astar|games/go|selfplay)/")

# A module and the engine exchange objects, so both must be compiled from the same files.
set(hashes "")
foreach(file ${plugin_headers} ${plugin_sources})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${file})
  file(SHA256 ${CMAKE_SOURCE_DIR}/${file} hash)
  string(APPEND hashes ${file} ${hash})
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING ${hash} 0 12 hash)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/plugin/headers.h @ONLY
     CONTENT "#pragma once\n#define PYENGINE_HEADERS \"@hash@\"\n#define PYENGINE_HEADERS_VERSION \"@pyengine_version@\"\n")
target_include_directories(pyengine_core PUBLIC ${CMAKE_BINARY_DIR}/generated)

foreach(file ${plugin_headers} ${plugin_sources})
  get_filename_component(folder ${file} DIRECTORY)
  string(REPLACE "src/cpp" "pyengine/include/pyengine" folder ${folder})
  install(FILES ${file} DESTINATION ${folder})
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/generated/plugin/headers.h
        DESTINATION pyengine/include/pyengine/plugin)
list(TRANSFORM plugin_sources REPLACE "src/cpp/" "" OUTPUT_VARIABLE pyengine_plugin_sources)
configure_file(cmake/pyengine-config.cmake.in ${CMAKE_BINARY_DIR}/generated/pyengine-config.cmake
               @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/pyengine-config-version.cmake
                                 VERSION ${pyengine_release} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/pyengine-config.cmake
              ${CMAKE_BINARY_DIR}/generated/pyengine-config-version.cmake bindings/module/game_module.cpp
        DESTINATION pyengine/cmake)
# The projects that `pyengine new-game` writes.
install(DIRECTORY examples/starter examples/hex examples/breakthrough
        DESTINATION pyengine/templates
        PATTERN build EXCLUDE PATTERN __pycache__ EXCLUDE PATTERN .pytest_cache EXCLUDE)
