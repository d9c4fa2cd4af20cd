# How every target is compiled. Nothing here depends on the machine that builds (no -march=native):
# loops that want more than the base instruction set are dispatched at run time in the sources.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Optimising across files makes a simulation 5 to 12 % cheaper and a release link some seconds longer.
include(CheckIPOSupported)
check_ipo_supported(RESULT ipo_supported OUTPUT ipo_reason LANGUAGES CXX)
if(ipo_supported)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION_RELEASE ON)
endif()

add_library(pyengine_flags INTERFACE)
if(MSVC)
  target_compile_options(pyengine_flags INTERFACE /W4 /permissive- /utf-8 /bigobj /Zc:__cplusplus)
  target_compile_definitions(pyengine_flags INTERFACE NOMINMAX)
  if(PYENGINE_WERROR)
    target_compile_options(pyengine_flags INTERFACE /WX)
  endif()
else()
  # Contracting a*b+c into one rounding would make visit counts differ between machines.
  target_compile_options(pyengine_flags INTERFACE -Wall -Wextra -Wpedantic -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC bug 105651: every "text" + std::string is reported.
    target_compile_options(pyengine_flags INTERFACE -Wno-restrict)
  endif()
  if(PYENGINE_WERROR)
    target_compile_options(pyengine_flags INTERFACE -Werror)
  endif()
endif()

if(PYENGINE_SANITIZE)
  set(sanitize -fsanitize=${PYENGINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_options(pyengine_flags INTERFACE ${sanitize})
  target_link_options(pyengine_flags INTERFACE ${sanitize})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # In a unity build GCC takes every .cpp file but the first for a header.
    target_compile_options(pyengine_flags INTERFACE -Wno-subobject-linkage)
  endif()
endif()
