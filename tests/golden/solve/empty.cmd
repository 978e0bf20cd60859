printf 'id,lower,upper,size\n' | hbmplan solve - --json
