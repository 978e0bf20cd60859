# SPDX-License-Identifier: Apache-2.0
# Sources generated at build time are added here to HBM_GENERATED_SOURCES.
set(HBM_GENERATED_SOURCES)
include(cmake/embed.cmake)
hbm_embed(hbm_target_files src/target/data/*.target)
