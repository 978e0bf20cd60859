hbmplan show dimension
hbmplan validate --simulate dimension
