# timeline_dumb.gp - the same in characters: each row is a text, made beforehand.
set rmargin 2; set bmargin 3
unset grid; set tics nomirror out scale 0; set border 1
set xrange [0:X_HI]; set yrange [0.4:ROWS+0.6]
plot NaN notitle
