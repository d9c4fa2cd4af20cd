/// The models that are open in this process: who opens one again shares its sessions.
#pragma once

#include <filesystem>
#include <memory>

#include "eval/ort/model.h"

namespace pyengine::ort {

/// The open model of this path and these options, if the files are byte for byte what they were
/// when it was opened; else opens it. It is closed when its last user goes. Throws ModelError.
std::shared_ptr<LoadedModel> open_shared(const Library& library, const std::filesystem::path& path,
                                         const OrtOptions& options);

}  // namespace pyengine::ort
