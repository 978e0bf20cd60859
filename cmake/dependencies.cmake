# SPDX-License-Identifier: Apache-2.0
# Kept libraries outside the core. What is missing is said by name; the parts
# that need it then refuse their inputs with a clear message.
find_package(PkgConfig)
find_package(Threads REQUIRED)
add_library(hbm_deps INTERFACE)
target_link_libraries(hbm_deps INTERFACE Threads::Threads)

function(hbm_optional name module package)
  if(PkgConfig_FOUND)
    pkg_check_modules(${name} IMPORTED_TARGET ${module})
  endif()
  if(${name}_FOUND)
    target_link_libraries(hbm_deps INTERFACE PkgConfig::${name})
    target_compile_definitions(hbm_deps INTERFACE HBM_HAVE_${name}=1)
  else()
    message(STATUS "missing: ${module} (Debian package ${package})")
    target_compile_definitions(hbm_deps INTERFACE HBM_HAVE_${name}=0)
  endif()
endfunction()

hbm_optional(JANSSON jansson libjansson-dev)
hbm_optional(PROTOBUF_C libprotobuf-c libprotobuf-c-dev)
hbm_optional(ZLIB zlib zlib1g-dev)
