#include "hex.h"

#include <pyengine/plugin/module.h>

PYENGINE_GAME(pyengine_hex::Hex)
