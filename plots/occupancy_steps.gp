# occupancy_steps.gp - theoretical occupancy along one quantity: a step in the colour of what limits it.
set lmargin at screen 0.085; set rmargin at screen 0.915; set tmargin at screen 0.79; set bmargin at screen 0.135
set xrange [X_LO:X_HI]; set yrange [0:108]; set y2range [0:1.08*WARPS]
set border 11
unset grid; set grid ytics lc rgb c_grid lw 1 lt 1 back
set ytics ("0" 0, "25 %%" 25, "50 %%" 50, "75 %%" 75, "100 %%" 100)
if (X_TICK > 0) { set xtics X_TICK }
set y2tics 0,WARPS/4,WARPS nomirror out scale 0.5 tc rgb c_fg
set xlabel X_LABEL tc rgb c_fg noenhanced offset 0,XT
set y2label "warps of an SM" tc rgb c_fg offset -0.5,0
array COLOUR[6] = [c_s1, c_s2, c_s3, c_s4, c_s6, c_s5]
plot $risers u 1:2 w l lc rgb c_mut lw 1 t "riser", \
     for [i=1:6] $steps u ($4==i ? $1 : NaN):3:($2-$1):(0) w vectors nohead lw 4 lc rgb COLOUR[i] t "step"
