# Sets pyengine_version (the full version) and pyengine_release (its numeric part, for project()).
#
# scikit-build-core passes the version that it writes into the package metadata. Without it, the
# version is read from pyproject.toml.

set(pyengine_version "${SKBUILD_PROJECT_VERSION_FULL}")
if(NOT pyengine_version)
  file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../pyproject.toml" line REGEX "^version = " LIMIT_COUNT 1)
  string(REGEX REPLACE "^version = \"(.*)\"$" "\\1" pyengine_version "${line}")
endif()

# Requires the normal form of the version specifiers' specification. Any other spelling would be
# normalised in the metadata and would then differ from the extension's version. Several expressions
# are used because CMake before version 4 allows at most nine groups in each.
string(REGEX REPLACE "\\+.*" "" public "${pyengine_version}")
if(NOT public MATCHES "^[0-9]+(\\.[0-9]+)*((a|b|rc)[0-9]+)?(\\.post[0-9]+)?(\\.dev[0-9]+)?$"
   OR public MATCHES "(^|[^0-9])0[0-9]"
   OR NOT pyengine_version MATCHES "^[^+]+(\\+[a-z0-9]+(\\.[a-z0-9]+)*)?$")
  message(FATAL_ERROR "pyproject.toml: expected a version in normal form, such as 0.2.0 or 0.2.0rc1, "
                      "got \"${pyengine_version}\"")
endif()
string(REGEX MATCH "^[0-9]+(\\.[0-9]+)?(\\.[0-9]+)?(\\.[0-9]+)?" pyengine_release "${pyengine_version}")
