# Every op is its own bundle, whatever bundles the program has: nothing is pooled.
hbmplan plan small.hbm --no-bundle-symbolic-args --emit hbm
