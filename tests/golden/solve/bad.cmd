printf 'id,lower,upper,size\na,0,4,9223372036854775807\nb,3,2,5\n' | hbmplan solve -
