# sweep_lower.gp - the lower panel: the counter that explains the main one, over the same x.
set tmargin at screen T2; set bmargin at screen B2
set border 3; unset y2tics
unset logscale y; set yrange [P_LO:P_HI]
plot for [i=1:N_PANEL_LAW*!WORDS] $panel_law index (i-1) u 1:2 w l ls 10+PANEL_LAW_LS[i] t "panel law", \
     for [i=1:N_PANEL_DOTS*WORDS] $panel_dots index (i-1) u 1:2 w impulses lw 3 lc rgb c_grid t "panel stem", \
     for [i=1:N_PANEL_LAW*WORDS] $panel_law index (i-1) u ($1-DASH):2:(2*DASH):(0) w vectors nohead ls 10+PANEL_LAW_LS[i] t "panel law", \
     for [i=1:N_PANEL_DOTS*HALO] $panel_dots index (i-1) u 1:2 w p pt 7 ps P*(DOT+0.35) lc rgb c_bg t "panel halo", \
     for [i=1:N_PANEL_DOTS] $panel_dots index (i-1) u 1:2 w p ls 20+PANEL_DOTS_LS[i] t "panel ".DOT_NAME
