# compare_dumb.gp - the same in characters: * the ratio, | where nothing changed.
set rmargin 4; set tmargin 2; set bmargin 3
unset grid; set tics nomirror out scale 0; set border 1
set logscale x; set xrange [X_LO:X_HI]; set yrange [0.4:ROWS+0.6]
set xlabel "ratio of throughputs" noenhanced
set format x "%.3g"
set arrow from 1,graph 0 to 1,graph 1 nohead
plot $dots u 2:1 w p pt "*" notitle
