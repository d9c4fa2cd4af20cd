/// A model fitted to a game.
#pragma once

#include <memory>

#include "eval/network/network.h"
#include "eval/ort/model.h"

namespace pyengine::ort {

/// Fits the model to a game; throws ModelError.
std::shared_ptr<RawNetwork> fit_network(std::shared_ptr<LoadedModel> model, const ModelSpec& spec,
                                        const NetworkShape& shape);

}  // namespace pyengine::ort
