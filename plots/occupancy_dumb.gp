# occupancy_dumb.gp - the same in characters: a staircase of points, or a cell's shade as a letter.
set lmargin 8; set rmargin 2; set tmargin 3; set bmargin 3
unset grid; set tics nomirror out scale 0; set border 3
set xlabel X_LABEL noenhanced
if (IS_MAP) {
  set xrange [-0.5:NX-0.5]; set yrange [-0.5:NY-0.5]
  plot $grid u 1:2:4 w labels noenhanced
} else {
  set xrange [X_LO:X_HI]; set yrange [0:100]
  set ytics ("0" 0, "25 %%" 25, "50 %%" 50, "75 %%" 75, "100 %%" 100)
  plot $dense u 1:2 w p pt "#"
}
