# sweep.gp - the main panel of a sweep: points with their intervals, the law, a second curve, the ceiling.
set multiplot
set lmargin at screen LM; set rmargin at screen RM; set tmargin at screen T1; set bmargin at screen B1
set xrange [X_LO:X_HI]; set yrange [Y_LO:Y_HI]
if (X_LOG) { set logscale x 2 }
if (Y_LOG) { set logscale y 2 }
# A log axis cannot be `set link`ed in gnuplot 5.4, so both ranges are set from the same two numbers.
if (HAS_SHARE) { set border 11; set y2range [S_LO:S_HI]; if (Y_LOG) { set logscale y2 2 } }
if (WORDS) { unset grid; set grid ytics lc rgb c_grid lw 1 lt 1 back }
plot for [i=1:N_GAP] $gap u 1:2:3 w filledcurves lc rgb c_law t "gap", \
     for [i=1:N_MARK] $mark u 1:(Y_LO):(0):(Y_HI-Y_LO) w vectors nohead lw 1 lc rgb c_mut dt (2,3) t "mark", \
     for [i=1:N_SHEET] $sheet u 1:2 w l lc rgb c_mut lw 1 dt (3,3) t "data sheet", \
     for [i=1:N_CEILING] $ceiling index (i-1) u 1:2 w l lc rgb c_mut lw 1 dt (8,5) t "ceiling", \
     for [i=1:N_SECOND] $second u 1:2 w l lc rgb c_second lw 1.6 dt (8,5) t "second curve", \
     for [i=1:N_LAW*!WORDS] $law index (i-1) u 1:2 w l ls 10+LAW_LS[i] t "law", \
     for [i=1:N_DOTS*STEMS] $dots index (i-1) u 1:2 w impulses lw 3 lc rgb c_grid t "stem", \
     for [i=1:N_LAW*WORDS] $law index (i-1) u ($1-DASH):2:(2*DASH):(0) w vectors nohead ls 10+LAW_LS[i] t "law", \
     for [i=1:N_DOTS*HALO] $dots index (i-1) u 1:2 w p pt 7 ps P*(DOT+0.35) lc rgb c_bg t "halo", \
     for [i=1:N_CI] $interval index (i-1) u 1:3:(0):($4-$3) w vectors nohead lw 1 lc rgb c_s1 t "95 % CI", \
     for [i=1:N_DOTS] $dots index (i-1) u 1:2 w p ls 20+DOT_LS[i] t DOT_NAME, \
     for [i=1:N_LOST] $lost u 1:(Y_LOST) w p pt 2 ps P*0.9 lw 1.4 lc rgb c_law t "no value"
