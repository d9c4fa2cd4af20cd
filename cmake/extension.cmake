# The extension module and the data files of the wheel.

file(GLOB binding_sources CONFIGURE_DEPENDS bindings/*.cpp)
if(NOT binding_sources)
  message(WARNING "pyengine: bindings/ contains no sources, so pyengine._core is not built")
  return()
endif()

set(PYBIND11_FINDPYTHON ON)
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT pybind11_ROOT AND NOT pybind11_DIR)
  # Outside a wheel build, use the pybind11 installed for this Python.
  execute_process(COMMAND ${Python_EXECUTABLE} -m pybind11 --cmakedir
                  OUTPUT_VARIABLE pybind11_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
find_package(pybind11 3.0 CONFIG REQUIRED)

# NO_EXTRAS, because compiler.cmake sets the optimisation flags and the install step strips symbols.
pybind11_add_module(_core MODULE NO_EXTRAS ${binding_sources})
target_link_libraries(_core PRIVATE pyengine_core)
target_compile_definitions(_core PRIVATE PYENGINE_VERSION="${pyengine_version}"
                           PYENGINE_PYTHON_ABI="${Python_SOABI}")

install(TARGETS _core LIBRARY DESTINATION pyengine)
install(DIRECTORY models/ DESTINATION pyengine/models OPTIONAL
        FILES_MATCHING PATTERN "*.onnx" PATTERN "manifest.toml" PATTERN "levels.toml" PATTERN "runs/*.toml")
install(DIRECTORY benchmarks/ DESTINATION pyengine/benchmarks OPTIONAL
        FILES_MATCHING PATTERN "*.py" PATTERN "cpp" EXCLUDE PATTERN "__pycache__" EXCLUDE)
# Benchmark reports include the engine's commit, which is unknown in an sdist.
install(CODE "
  if(EXISTS \"${CMAKE_SOURCE_DIR}/.git\")
    execute_process(COMMAND git -C \"${CMAKE_SOURCE_DIR}\" describe --always --dirty
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                    ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/pyengine/benchmarks/_commit.py\"
           \"COMMIT = \\\"\${commit}\\\"\\n\")
    endif()
  endif()")
