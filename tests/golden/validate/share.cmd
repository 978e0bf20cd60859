# What the back end keeps of the scratchpad is told to the checker too.
printf 'target spyre\ninput x : 1900000 bytes\ntensor t : 1900000 bytes\noutput y : 1900000 bytes\nbundle k { op f(x) -> t cores=1; op g(t) -> y cores=1 }\n' | hbmplan plan - --dxp-lx-frac-avail 0 --emit hbm -o "$work/p.hbm"; hbmplan validate "$work/p.hbm" 2>/dev/null; hbmplan validate "$work/p.hbm" --dxp-lx-frac-avail 0
