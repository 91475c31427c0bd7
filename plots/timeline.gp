# timeline.gp - a row a stream, a bar an operation; a frame under it where the law has the operation.
set lmargin at screen LM; set rmargin at screen RM; set tmargin at screen TM; set bmargin at screen BM
set xrange [0:X_HI]; set yrange [0.4:ROWS+0.6]
unset grid; set grid xtics lc rgb c_grid lw 1 lt 1 back
set border 1; unset ytics; unset mxtics
set xtics tc rgb c_fg font "".F(9.5)
array COLOUR[6] = [c_s1, c_s3, c_s2, c_s4, c_s5, c_mut]
# columns: begin, end, place of the row, stage
plot for [i=1:6] $bars u ($4==i ? $1 : NaN):3:1:2:($3+LOW):($3+HIGH) w boxxyerrorbars fs solid 0.85 border lc rgb c_bg lw 1 fc rgb COLOUR[i] t "operation", \
     for [i=1:6*N_LAW] $law u ($4==i ? $1 : NaN):3:1:2:($3-0.40):($3-0.17) w boxxyerrorbars fs transparent solid 0.25 border lc rgb COLOUR[i] lw 1 fc rgb COLOUR[i] t "law"
