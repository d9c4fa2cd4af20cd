#include "starter.h"

#include <pyengine/plugin/module.h>

PYENGINE_GAME(pyengine_starter::Starter)
