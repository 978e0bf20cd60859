printf '\000\001\377junk' | hbmplan plan -
