hbmplan fit small.hlo --target core_v5
