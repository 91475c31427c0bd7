# occupancy_map.gp - theoretical occupancy over two quantities, one cell a launch.
set lmargin at screen 0.105; set rmargin at screen 0.845; set tmargin at screen 0.855; set bmargin at screen 0.125
unset grid; set border 3 lc rgb c_mut
set xrange [-0.5:NX-0.5]; set yrange [-0.5:NY-0.5]
set xlabel X_LABEL tc rgb c_fg noenhanced offset 0,XT
set ylabel Y_LABEL tc rgb c_fg noenhanced offset -0.5,0
set style fill solid 1 noborder              # of the colour box too
# sequential, perceptually even, one hue; 8 steps because the quantity moves in steps
set palette defined (0 "#F7FBFF", 1 "#DEEBF7", 2 "#C6DBEF", 3 "#9ECAE1", 4 "#6BAED6", 5 "#4292C6", 6 "#2171B5", 7 "#084594") maxcolors 8
set cbrange [0:100]; set cbtics 0,25,100 format "%g %%" tc rgb c_fg out scale 0.5
set cblabel "occupancy" tc rgb c_fg
set colorbox user origin screen 0.87,0.2 size screen 0.022,0.55 noborder
set style textbox opaque border lc rgb c_mut fillcolor rgb c_bg margins 0.8,0.6
plot $grid u 1:2:($3>0?$3:NaN) w image t "occupancy", $mark u 1:2 w p pt 6 ps P*1.4 lw 1.4 lc rgb c_fg t "example"
