/// Makes a game's code visible outside its shared library, for a program without Python.
#include "plugin/game_code.h"

extern "C" const pyengine::GameCapsule* pyengine_game_capsule(const char* python_abi);

extern "C" __attribute__((visibility("default"))) const pyengine::GameCapsule* exported_game() {
  return pyengine_game_capsule("");
}
