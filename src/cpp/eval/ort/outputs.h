/// Outputs of a model besides policy and value, which a search does not use at its leaves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "eval/ort/model.h"

namespace pyengine::ort {

/// See OrtModel::run(). Safe to use from several threads.
std::vector<OrtOutput> run_outputs(const LoadedModel& model, std::span<const float> planes,
                                   const std::vector<std::int64_t>& shape, const std::string& input,
                                   const std::vector<std::string>& outputs);

}  // namespace pyengine::ort
