#include "processor.h"

#include <pybind11/pybind11.h>

#include <string>

#include "base/cpu.h"

namespace pyengine::bindings {

void check_processor() {
  const std::string missing = missing_of_x86_64_v2();
  if (missing.empty()) return;
  throw pybind11::import_error(
      "pyengine requires an x86-64-v2 processor (Intel since 2009, AMD since 2011), like NumPy; "
      "this one lacks " +
      missing);
}

}  // namespace pyengine::bindings
