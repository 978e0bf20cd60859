# SPDX-License-Identifier: Apache-2.0
# Puts files into the library.
#
#   hbm_embed(hbm_target_files src/target/data/*.target)
#
# adds to HBM_GENERATED_SOURCES a source that defines
# `const hbm_embedded hbm_target_files[]` (base/embedded.h) and the list of names
# `hbm_target_files_names`, made anew when a file changes. Also runs as a script, to write that source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(arrays "")
  set(rows "")
  set(names "")
  foreach(file ${FILES})
    get_filename_component(name ${file} NAME_WLE)
    string(MAKE_C_IDENTIFIER ${name} id)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
    string(APPEND arrays "static const unsigned char ${id}[] = {\n${hex}0x00};\n")
    string(APPEND names "\t\"${name}\",\n")
    string(APPEND rows "\t{\"${name}\", (const char *)${id}, sizeof ${id} - 1},\n")
  endforeach()
  file(WRITE ${OUT} "/* Made by cmake/embed.cmake. */\n#include \"base/embedded.h\"\n"
    "extern const hbm_embedded ${TABLE}[];\n"
    "extern const char *const ${TABLE}_names[];\n${arrays}"
    "const hbm_embedded ${TABLE}[] = {\n${rows}\t{0},\n};\n"
    "const char *const ${TABLE}_names[] = {\n${names}\tNULL,\n};\n")
  return()
endif()

set(HBM_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(hbm_embed table pattern)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${pattern})
  list(SORT files)
  set(out ${CMAKE_BINARY_DIR}/generated/${table}.c)
  add_custom_command(OUTPUT ${out} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DTABLE=${table} -DOUT=${out} "-DFILES=${files}"
      -P ${HBM_EMBED_SCRIPT}
    DEPENDS ${files} ${HBM_EMBED_SCRIPT} COMMENT "Embedding ${pattern}")
  set(HBM_GENERATED_SOURCES ${HBM_GENERATED_SOURCES} ${out} PARENT_SCOPE)
endfunction()
