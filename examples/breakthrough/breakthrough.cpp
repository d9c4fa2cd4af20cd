#include "breakthrough.h"

#include <pyengine/plugin/module.h>

PYENGINE_GAME(pyengine_breakthrough::Breakthrough)
