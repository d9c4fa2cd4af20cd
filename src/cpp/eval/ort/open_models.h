/// The models open in this process: opening one again shares its sessions.
#pragma once

#include <filesystem>
#include <memory>

#include "eval/ort/model.h"

namespace pyengine::ort {

/// Returns the open model with this path and these options if its files have not changed since it
/// was opened; otherwise opens it. It is closed with its last user. Throws ModelError.
std::shared_ptr<LoadedModel> open_shared(const Library& library, const std::filesystem::path& path,
                                         const OrtOptions& options);

}  // namespace pyengine::ort
