/// Fits a model to a game, and infers the spec of a model without one.
#pragma once

#include <memory>

#include "eval/network/network.h"
#include "eval/ort/model.h"

namespace pyengine::ort {

/// Fits the model to a game. Throws ModelError, also if the graph or a trial run contradicts the
/// spec.
std::shared_ptr<RawNetwork> fit_network(std::shared_ptr<LoadedModel> model, const ModelSpec& spec,
                                        const NetworkShape& shape);

/// See OrtModel::infer_spec().
ModelSpec infer_spec(const std::shared_ptr<LoadedModel>& model);

}  // namespace pyengine::ort
