# ub_jansson: static where the distribution has it, so that the binary runs elsewhere.
find_path(JANSSON_INCLUDE_DIR jansson.h)
find_library(JANSSON_LIBRARY NAMES libjansson.a jansson)
mark_as_advanced(JANSSON_INCLUDE_DIR JANSSON_LIBRARY)
if(NOT JANSSON_INCLUDE_DIR OR NOT JANSSON_LIBRARY)
  message(FATAL_ERROR "jansson was not found: install libjansson-dev (Debian, Ubuntu) or jansson-devel (Fedora), "
                      "or run ./bootstrap")
endif()
add_library(ub_jansson INTERFACE)
target_include_directories(ub_jansson SYSTEM INTERFACE "${JANSSON_INCLUDE_DIR}")
target_link_libraries(ub_jansson INTERFACE "${JANSSON_LIBRARY}")
