hbmplan validate far
