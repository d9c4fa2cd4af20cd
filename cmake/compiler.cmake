# Compiler settings for all targets. They do not depend on the build machine (no -march=native):
# loops that benefit from newer instruction sets are dispatched at run time.

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

# Link-time optimisation makes a simulation 5 to 12 % faster and adds seconds to a release link.
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
  # Fused multiply-adds would make visit counts differ between machines.
  target_compile_options(pyengine_flags INTERFACE -Wall -Wextra -Wpedantic -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC bug 105651: false warnings for "text" + std::string.
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
    # In a unity build, GCC treats every .cpp file except the first as a header.
    target_compile_options(pyengine_flags INTERFACE -Wno-subobject-linkage)
  endif()
endif()
