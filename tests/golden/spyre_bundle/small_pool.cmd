hbmplan validate small_pool
hbmplan validate --json small_pool
