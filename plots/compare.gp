# compare.gp - the forest chart: a row a point, its ratio with the interval on a log axis, the margin as a band.
set lmargin at screen LM; set rmargin at screen RM; set tmargin at screen TM; set bmargin at screen BM
set logscale x; set xrange [X_LO:X_HI]; set yrange [0.4:ROWS+0.6]
unset grid; set grid xtics lc rgb c_grid lw 1 lt 1 back
set border 1; unset ytics; unset mxtics
set xtics tc rgb c_fg font "".F(9.5)
array COLOUR[11] = [c_mut, c_s1, c_s1, c_s5, c_s3, c_s1, c_s2, c_s4, c_s3, c_s5, c_s6]   # verdicts, then runs
if (MARGIN > 0) {
  set object rectangle from 1-MARGIN,graph 0 to 1+MARGIN,graph 1 fc rgb c_grid fs solid (DARK ? 1.0 : 0.7) noborder behind
}
set arrow from 1,graph 0 to 1,graph 1 nohead lc rgb c_mut lw 1 back
set bars 0.4
plot for [i=1:N_LAW] $law u 2:1 w p pt 12 ps P*1.5 lw 1 lc rgb c_mut t "what the laws say", \
     for [i=1:11*N_CI] $dots u ($5==i ? $2 : NaN):1:3:4 w xerrorbars pt 7 ps 0 lw 1.5 lc rgb COLOUR[i] t "95 % CI", \
     for [i=1:HOLLOW] $dots u 2:1 w p pt 7 ps P*0.8 lc rgb c_bg t "halo", \
     for [i=1:11] $dots u ($5==i ? $2 : NaN):1 w p pt (HOLLOW ? 6 : 7) ps P*0.8 lw 1.4 lc rgb COLOUR[i] t "measured"
