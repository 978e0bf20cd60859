hbmplan show small.hlo
