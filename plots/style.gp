# style.gp - the look of all charts. Expects: OUT (file name), TERM (pngcairo|svg|pdfcairo|dumb),
# DARK (0|1), W and H in px (dumb: columns and rows).
if (strstrt(GPVAL_TERMINALS, " ".TERM." ") == 0) {
  print "ubench: missing terminal ".TERM
  exit
}
FONT = "DejaVu Sans"
K = (TERM eq "svg") ? 4.0/3.0 : 1.0         # svg font sizes are px, cairo's are pt
F(s)  = sprintf("%s,%g", FONT, s*K)         # regular, bold, italic; written "Family Bold,13": the svg terminal
FB(s) = sprintf("%s Bold,%g", FONT, s*K)    # takes "Family:Bold" of a noenhanced text for a family name
FI(s) = sprintf("%s Italic,%g", FONT, s*K)
# Colours after Okabe and Ito (2008), safe for the common forms of colour-blindness; vermilion, green, purple
# and orange are darker than theirs, so that words in them have a contrast of 4.5 or more.
if (DARK) {
  c_fg="#E6E6E6"; c_mut="#9AA0A6"; c_grid="#3C4043"; c_bg="#1B1C1E"
  c_law="#F0803C"; c_second="#2BC596"
  c_s1="#56B4E9"; c_s2="#2BC596"; c_s3="#E69F00"; c_s4="#D98CB8"; c_s5="#F0803C"; c_s6="#E6E6E6"
} else {
  c_fg="#222222"; c_mut="#6B7075"; c_grid="#E3E5E8"; c_bg="#FFFFFF"
  c_law="#C25400"; c_second="#00805D"
  c_s1="#0072B2"; c_s2="#00805D"; c_s3="#8A6100"; c_s4="#A2417B"; c_s5="#C25400"; c_s6="#222222"
}
# png at twice the size: the same logical size, so one layout serves all terminals
if (TERM eq "pngcairo") set terminal pngcairo size 2*W,2*H font "".F(11) fontscale 2 linewidth 2 pointscale 2 background rgb c_bg
if (TERM eq "svg")      set terminal svg size W,H dynamic font "".F(11) linewidth 1.2 background rgb c_bg name "ubench"
if (TERM eq "pdfcairo") set terminal pdfcairo size W/96.0*1in,H/96.0*1in font "".F(11) fontscale 0.75 background rgb c_bg
if (TERM eq "dumb")     set terminal dumb nofeed size W,H noenhanced
P = (TERM eq "pngcairo") ? 1.0 : 0.72       # symbols come out larger in svg and pdf
XT = (TERM eq "svg") ? 0.35 : 0.0           # and its tick labels hang lower
set output OUT
set encoding utf8
set border 3 lc rgb c_mut lw 1
set tics nomirror out scale 0.5 textcolor rgb c_fg
unset mxtics; unset mytics
set grid xtics ytics lc rgb c_grid lw 1 lt 1
set grid back
set key off                                 # curves are labelled where they are, or in a row over the panel
set style textbox opaque noborder fillcolor rgb c_bg margins 0.4,0.2   # the grid does not run through words
set style fill transparent solid 0.10 noborder
