echo "{" | hbmplan validate small.hbm /dev/stdin
