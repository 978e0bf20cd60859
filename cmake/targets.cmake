# SPDX-License-Identifier: Apache-2.0
# Sources generated at build time are added here to HBM_GENERATED_SOURCES.
set(HBM_GENERATED_SOURCES)
include(cmake/embed.cmake)
hbm_embed(hbm_target_files src/target/data/*.target)

# HLO protobuf: C code from our subset of the schema.
find_program(PROTOC_C protoc-c)
set(HBM_HAVE_HLO_PROTO 0)
if(PROTOC_C AND PROTOBUF_C_FOUND)
  set(HBM_HAVE_HLO_PROTO 1)
  set(hlo_dir ${CMAKE_BINARY_DIR}/generated)
  add_custom_command(OUTPUT ${hlo_dir}/import/hlo.pb-c.c ${hlo_dir}/import/hlo.pb-c.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${hlo_dir}/import
    COMMAND ${PROTOC_C} --c_out=${hlo_dir} -I${CMAKE_SOURCE_DIR}/src import/hlo.proto
    DEPENDS ${CMAKE_SOURCE_DIR}/src/import/hlo.proto)
  set_source_files_properties(${hlo_dir}/import/hlo.pb-c.c PROPERTIES COMPILE_OPTIONS -w)
  list(APPEND HBM_GENERATED_SOURCES ${hlo_dir}/import/hlo.pb-c.c ${hlo_dir}/import/hlo.pb-c.h)
elseif(NOT PROTOC_C)
  message(STATUS "missing: protoc-c (Debian package protobuf-c-compiler)")
endif()
target_compile_definitions(hbm_deps INTERFACE HBM_HAVE_HLO_PROTO=${HBM_HAVE_HLO_PROTO})
