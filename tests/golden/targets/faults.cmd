hbmplan targets ./faults.target
