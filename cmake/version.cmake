# pyengine_version (the whole version) and pyengine_release (its numbers, which project() takes).
#
# scikit-build-core gives the version that it writes into the package's metadata; CMake alone reads
# pyproject.toml, the one place where it stands.

set(pyengine_version "${SKBUILD_PROJECT_VERSION_FULL}")
if(NOT pyengine_version)
  file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../pyproject.toml" line REGEX "^version = " LIMIT_COUNT 1)
  string(REGEX REPLACE "^version = \"(.*)\"$" "\\1" pyengine_version "${line}")
endif()

# The normal form of the version specifiers' specification: another spelling would be normalised in
# the metadata and differ from the extension's. CMake before 4 has at most nine groups in an expression.
string(REGEX REPLACE "\\+.*" "" public "${pyengine_version}")
if(NOT public MATCHES "^[0-9]+(\\.[0-9]+)*((a|b|rc)[0-9]+)?(\\.post[0-9]+)?(\\.dev[0-9]+)?$"
   OR public MATCHES "(^|[^0-9])0[0-9]"
   OR NOT pyengine_version MATCHES "^[^+]+(\\+[a-z0-9]+(\\.[a-z0-9]+)*)?$")
  message(FATAL_ERROR "pyproject.toml: expected a version in normal form, such as 0.2.0 or 0.2.0rc1, "
                      "found \"${pyengine_version}\"")
endif()
string(REGEX MATCH "^[0-9]+(\\.[0-9]+)?(\\.[0-9]+)?(\\.[0-9]+)?" pyengine_release "${pyengine_version}")
