# sweep_dumb.gp - one panel of a sweep in characters: no grid, one symbol a series, the law as dots.
unset logscale y                            # before the range: a log axis takes no 0
set xrange [X_LO:X_HI]; set yrange [R_LO:R_HI]
if (X_LOG) { set logscale x 2 }
if (R_LOG) { set logscale y 2 }
unset grid
set tics nomirror out scale 0
set border 3
plot for [i=1:N_CEILING] $ceiling u 1:2 w p pt PT_CEILING t "ceiling", \
     for [i=1:N_LAW] $law index (i-1) u 1:2 w p pt PT_LAW t "law", \
     for [i=1:N_DOTS] $dots index (i-1) u 1:2 w p pt DOT_PT[i] t DOT_NAME, \
     for [i=1:N_LOST] $lost u 1:(R_LO) w p pt PT_LOST t "no value"
