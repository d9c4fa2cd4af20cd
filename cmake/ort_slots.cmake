# Target ort_slots: checks src/cpp/eval/ort/api.h against onnxruntime_c_api.h in ORT_HEADERS.

set(ORT_HEADERS "" CACHE PATH "Folder that contains onnxruntime_c_api.h, for the target ort_slots")
if(ORT_HEADERS)
  add_library(ort_slots OBJECT EXCLUDE_FROM_ALL cmake/ort_slots.cpp)
  target_include_directories(ort_slots PRIVATE src/cpp)
  target_include_directories(ort_slots SYSTEM PRIVATE ${ORT_HEADERS})
endif()
