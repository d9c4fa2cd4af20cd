/// The header for the rules of a game outside the engine: the concept that they model (Game) and
/// what the built-in games share.
#pragma once

#include "base/error.h"               // IWYU pragma: export
#include "base/rng.h"                 // IWYU pragma: export
#include "base/types.h"               // IWYU pragma: export
#include "games/any/setup_check.h"    // IWYU pragma: export
#include "games/common/grid_text.h"   // IWYU pragma: export
#include "games/common/hashing.h"     // IWYU pragma: export
#include "games/common/key_hash.h"    // IWYU pragma: export
#include "games/common/params.h"      // IWYU pragma: export
#include "games/common/placement.h"   // IWYU pragma: export
#include "games/common/point_list.h"  // IWYU pragma: export
#include "games/common/status.h"      // IWYU pragma: export
#include "games/common/symmetry.h"    // IWYU pragma: export
#include "games/game.h"               // IWYU pragma: export
#include "games/game_options.h"       // IWYU pragma: export
