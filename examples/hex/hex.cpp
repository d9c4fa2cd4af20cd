#include "hex.h"

#include <pyengine/plugin/module.h>

PYENGINE_GAME(hex::Hex)
