# ub_version: generated/ub_version.h with the version, commit, compilers and the
# hash of all device code.
find_package(Git QUIET)
set(ub_commit "")
if(GIT_FOUND AND EXISTS "${CMAKE_SOURCE_DIR}/.git")
  execute_process(COMMAND "${GIT_EXECUTABLE}" rev-parse --short HEAD WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
                  OUTPUT_VARIABLE ub_commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(EXISTS "${CMAKE_SOURCE_DIR}/.git/logs/HEAD")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/.git/logs/HEAD")
  endif()
endif()
# What decides which kernels run and how: device code with its headers, the geometry of
# the launches, and what it is compiled for.
file(GLOB ub_device_code CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/micro/*/*.cu" "${CMAKE_SOURCE_DIR}/micro/*/*.h"
     "${CMAKE_SOURCE_DIR}/micro/*/geometry.c" "${CMAKE_SOURCE_DIR}/harness/cuda/*.cu" "${CMAKE_SOURCE_DIR}/harness/cuda/runtime.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ub_device_code})
set(ub_hashes "${CMAKE_CUDA_COMPILER_VERSION} ${CMAKE_CUDA_ARCHITECTURES} ${CMAKE_CUDA_FLAGS}")
foreach(file IN LISTS ub_device_code)
  file(SHA256 "${file}" hash)
  string(APPEND ub_hashes "${hash}")
endforeach()
string(SHA256 UB_CODE_HASH "${ub_hashes}")
string(SUBSTRING "${UB_CODE_HASH}" 0 16 UB_CODE_HASH)
set(UB_VERSION "${PROJECT_VERSION}")
if(ub_commit)
  set(UB_VERSION "${PROJECT_VERSION} (${ub_commit})")
endif()
if(UBENCH_HAVE_CUDA)
  set(UB_NVCC "${CMAKE_CUDA_COMPILER_VERSION}")
  string(REPLACE ";" " " UB_ARCHS "${CMAKE_CUDA_ARCHITECTURES}")
endif()
configure_file("${CMAKE_SOURCE_DIR}/cmake/ub_version.h.in" "${CMAKE_BINARY_DIR}/generated/ub_version.h" @ONLY)
add_library(ub_version INTERFACE)
target_include_directories(ub_version INTERFACE "${CMAKE_BINARY_DIR}/generated")
