/// A model fitted to a game, and how one reads that says nothing of itself.
#pragma once

#include <memory>

#include "eval/network/network.h"
#include "eval/ort/model.h"

namespace pyengine::ort {

/// Fits the model to a game; throws ModelError, also where the graph or a trial run refutes the
/// spec.
std::shared_ptr<RawNetwork> fit_network(std::shared_ptr<LoadedModel> model, const ModelSpec& spec,
                                        const NetworkShape& shape);

/// See OrtModel::infer_spec().
ModelSpec infer_spec(const std::shared_ptr<LoadedModel>& model);

}  // namespace pyengine::ort
