# Finds nvcc and CUPTI's headers. Without nvcc the build is host-only: it says so
# once, and everything but measuring works.
option(UBENCH_ALL_ARCHITECTURES "Compile for every GPU that nvcc knows from sm_75 on" OFF)
set(UBENCH_CUDA_MINIMUM 12.8) # the first with Blackwell and CUPTI's range profiler as it is used here
set(UBENCH_HAVE_CUDA OFF)
set(UBENCH_HAVE_CUPTI OFF)
set(ub_host_only_reason "UBENCH_CUDA is OFF")

# sm_90a is sm_90 with wgmma, the matrix instruction that `gemm` needs for more than half
# of this GPU's rate; every GPU that runs sm_90 and no other runs it. The "a" targets of
# other generations add nothing that is used here.
function(ub_with_wgmma name_of_list)
  list(TRANSFORM ${name_of_list} REPLACE "^90(-real)?$" "90a-real")
  set(${name_of_list} ${${name_of_list}} PARENT_SCOPE)
endfunction()

# Every real target of this nvcc from sm_75 on (one instruction set each), and PTX of the
# newest for what comes after.
function(ub_all_architectures nvcc out)
  execute_process(COMMAND "${nvcc}" --list-gpu-code OUTPUT_VARIABLE listed RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${nvcc} --list-gpu-code failed: UBENCH_ALL_ARCHITECTURES needs it")
  endif()
  string(REGEX MATCHALL "sm_[0-9]+" codes "${listed}")
  list(TRANSFORM codes REPLACE "sm_" "")
  list(REMOVE_DUPLICATES codes)
  list(SORT codes COMPARE NATURAL)
  set(architectures)
  foreach(code IN LISTS codes)
    if(code GREATER_EQUAL 75)
      list(APPEND architectures ${code}-real)
      set(newest ${code})
    endif()
  endforeach()
  ub_with_wgmma(architectures)
  set(${out} ${architectures} ${newest}-virtual PARENT_SCOPE)
endfunction()

if(UBENCH_CUDA)
  include(CheckLanguage)
  find_package(CUDAToolkit QUIET)
  set(ub_nvcc "${CUDAToolkit_NVCC_EXECUTABLE}")
  if(CMAKE_CUDA_COMPILER)
    set(ub_nvcc "${CMAKE_CUDA_COMPILER}")
  elseif(DEFINED ENV{CUDACXX})
    set(ub_nvcc "$ENV{CUDACXX}")
  endif()
  if(UBENCH_ALL_ARCHITECTURES AND ub_nvcc)
    ub_all_architectures("${ub_nvcc}" CMAKE_CUDA_ARCHITECTURES)
  elseif(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # The GPU that is there, else sm_90a with PTX that any GPU from 7.5 on can compile.
    if(EXISTS /dev/nvidiactl OR EXISTS /dev/dxg)
      set(CMAKE_CUDA_ARCHITECTURES native)
    else()
      set(CMAKE_CUDA_ARCHITECTURES 90a-real 75-virtual)
    endif()
  endif()
  if(NOT ub_nvcc)
    set(ub_host_only_reason "nvcc was not found")
  elseif(CUDAToolkit_FOUND AND CUDAToolkit_VERSION VERSION_LESS UBENCH_CUDA_MINIMUM)
    set(ub_host_only_reason "${ub_nvcc} is CUDA ${CUDAToolkit_VERSION}, older than ${UBENCH_CUDA_MINIMUM}")
  else()
    # Through the environment, so that an nvcc that does not work (a host compiler
    # that it refuses) makes a host-only build and not an error.
    set(ENV{CUDACXX} "${ub_nvcc}")
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER AND TARGET CUDA::cudart_static)
      enable_language(CUDA)
      set(UBENCH_HAVE_CUDA ON)
      # What "native" stands for is known from here on.
      if(CMAKE_CUDA_ARCHITECTURES STREQUAL "native" AND CMAKE_CUDA_ARCHITECTURES_NATIVE)
        set(CMAKE_CUDA_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES_NATIVE})
        ub_with_wgmma(CMAKE_CUDA_ARCHITECTURES)
      endif()
    elseif(NOT CMAKE_CUDA_COMPILER)
      set(ub_host_only_reason "${ub_nvcc} does not compile here, see ${CMAKE_BINARY_DIR}/CMakeFiles/CMakeError.log")
    else()
      set(ub_host_only_reason "libcudart_static.a was not found beside ${ub_nvcc}")
    endif()
  endif()
endif()

if(UBENCH_CUDA AND CUDAToolkit_FOUND)
  find_path(UBENCH_CUPTI_INCLUDE cupti_range_profiler.h
    HINTS ${CUDAToolkit_INCLUDE_DIRS} ${CUDAToolkit_TARGET_DIR}/extras/CUPTI/include
          ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include)
  find_library(UBENCH_CUPTI_LIBRARY cupti
    HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}/lib64 ${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/lib64)
  mark_as_advanced(UBENCH_CUPTI_INCLUDE UBENCH_CUPTI_LIBRARY)
  if(UBENCH_CUPTI_INCLUDE)
    set(UBENCH_HAVE_CUPTI ON)
    set(UBENCH_CUPTI_FOLDER "")
    if(UBENCH_CUPTI_LIBRARY)
      get_filename_component(UBENCH_CUPTI_FOLDER "${UBENCH_CUPTI_LIBRARY}" DIRECTORY)
    endif()
  endif()
endif()

# CUDA sources link with plain gcc: no exceptions, no RTTI, no guarded statics.
function(ub_cuda_target name)
  target_compile_options(${name} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics>")
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  set_target_properties(${name} PROPERTIES CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY Static)
endfunction()

function(ub_cuda_summary)
  if(UBENCH_HAVE_CUDA)
    message(STATUS "ubench: measures (nvcc ${CMAKE_CUDA_COMPILER_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES})")
  else()
    message(STATUS "ubench: host-only build (${ub_host_only_reason}): predicts, plots and checks, but does not measure")
  endif()
  if(UBENCH_HAVE_CUPTI)
    message(STATUS "ubench: counters through CUPTI (headers in ${UBENCH_CUPTI_INCLUDE}; the library is opened when needed)")
  else()
    message(STATUS "ubench: no counters (CUPTI's headers were not found)")
  endif()
endfunction()
