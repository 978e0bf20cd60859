hbmplan plan --passes fuse view_pair.hbm
