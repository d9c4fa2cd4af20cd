# Target ort_slots: src/cpp/eval/ort/api.h against the official onnxruntime_c_api.h in ORT_HEADERS.

set(ORT_HEADERS "" CACHE PATH "Folder of onnxruntime_c_api.h, for the target ort_slots")
if(ORT_HEADERS)
  add_library(ort_slots OBJECT EXCLUDE_FROM_ALL cmake/ort_slots.cpp)
  target_include_directories(ort_slots PRIVATE src/cpp)
  target_include_directories(ort_slots SYSTEM PRIVATE ${ORT_HEADERS})
endif()
