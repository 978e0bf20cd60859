hbmplan fit small.hlo
