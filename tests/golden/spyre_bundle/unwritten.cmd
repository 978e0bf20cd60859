hbmplan validate unwritten
