# SPDX-License-Identifier: MIT
"""Looks at one SVG chart as a reader would (harness.md 3.4).

usage: check_svg.py CHART.svg [SCRIPT.gp DOTS [TEXT]...]

SCRIPT is the script that drew it: its datablock $dots says where the points must
be. Without it only words and colours are looked at. Prints each fault and exits 1,
or exits 0.
"""
import math
import re
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}href"
LIGHT = {"#222222", "#6B7075", "#E3E5E8", "#FFFFFF", "#C25400", "#00805D", "#0072B2", "#8A6100", "#A2417B"}
DARK = {"#E6E6E6", "#9AA0A6", "#3C4043", "#1B1C1E", "#F0803C", "#2BC596", "#56B4E9", "#E69F00", "#D98CB8"}

# The widths of characters below are a guess; long lines of them must not raise an alarm.
SLACK = 0.02

faults = []


def fault(text):
    faults.append(text)


def colour(text):
    """'rgb(34,34,34)' or '#222222' as '#222222'; None for none and names."""
    numbers = re.fullmatch(r"rgb\(\s*(\d+),\s*(\d+),\s*(\d+)\)", text.strip())
    if numbers:
        return "#%02X%02X%02X" % tuple(int(n) for n in numbers.groups())
    return text.upper() if re.fullmatch(r"#[0-9a-fA-F]{6}", text.strip()) else None


def luminance(rgb):
    parts = [int(rgb[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def advance(c):
    """Width of a character of a sans-serif font, in em."""
    if c in "il.,:;'|!·j":
        return 0.32
    if c in "mwMW%@÷×…":
        return 0.9
    if c in " -()[]ftr/I\"":
        return 0.38
    return 1.0 if ord(c) > 0x2E80 else 0.62


class Text:
    def __init__(self, words, group):
        place = re.search(r"translate\(([-\d.]+),([-\d.]+)\)", group.get("transform"))
        self.words = words
        self.x, self.y = float(place.group(1)), float(place.group(2))
        self.size = float(group.get("font-size"))
        self.anchor = group.get("text-anchor")
        self.fill = colour(group.get("fill"))
        turned = re.search(r"rotate\(([-\d.]+)\)", group.get("transform"))
        self.angle = float(turned.group(1)) if turned else 0.0

    def box(self):
        """left, top, right, bottom; the baseline is at y."""
        width = self.size * sum(advance(c) for c in self.words) * (1 - SLACK * (self.angle == 0))
        start = {"start": 0, "middle": -width / 2, "end": -width}[self.anchor]
        corners = [(start, -0.75 * self.size), (start + width, 0.2 * self.size)]
        turn = math.radians(self.angle)
        points = [
            (self.x + x * math.cos(turn) - y * math.sin(turn), self.y + x * math.sin(turn) + y * math.cos(turn))
            for x in (corners[0][0], corners[1][0])
            for y in (corners[0][1], corners[1][1])
        ]
        xs, ys = [p[0] for p in points], [p[1] for p in points]
        return min(xs), min(ys), max(xs), max(ys)


def texts_of(root):
    """All texts once: a boxed label stands twice, the first time as its box."""
    found, seen = [], set()
    for group in root.iter(SVG + "g"):
        for element in group.findall(SVG + "text"):
            words = "".join(element.itertext()).replace("\n", "").replace("\t", "")
            if not words.strip() or not group.get("font-size"):
                continue
            text = Text(words, group)
            key = (text.words, text.x, text.y)
            if key not in seen:
                seen.add(key)
                found.append(text)
    return found


def check_texts(texts, view, required, hostile):
    width, height = view
    for text in texts:
        left, top, right, bottom = text.box()
        if left < -1 or top < -1 or right > width + 1 or bottom > height + 1:
            fault("'%s' leaves the picture: %.0f..%.0f of %g, %.0f..%.0f of %g" % (text.words, left, right, width, top, bottom, height))
        if not hostile and re.search(r"\bnan\b|\binf\b|\$|%[a-z]", text.words, re.I):
            fault("'%s' has an unexpanded or absent value" % text.words)
    for i, a in enumerate(texts):
        for b in texts[i + 1 :]:
            if a.angle not in (0.0, -90.0, 270.0) or a.angle != b.angle:
                continue  # boxes of slanted tick labels overlap though the words do not
            one, two = a.box(), b.box()
            across = min(one[2], two[2]) - max(one[0], two[0])
            down = min(one[3], two[3]) - max(one[1], two[1])
            if across > 2 and down > 2:
                fault("'%s' and '%s' overlap by %.0f x %.0f px" % (a.words, b.words, across, down))
    everything = " ".join(t.words for t in texts)
    for words in required:
        if words not in everything:
            fault("'%s' is missing in: %s" % (words, everything))


def check_colours(root, texts):
    canvas = root.find(SVG + "g")
    background = colour(canvas.find(SVG + "rect").get("fill"))
    palette = DARK if background in DARK else LIGHT
    drawn = [e for group in canvas.findall(SVG + "g") for e in group.iter()]
    for element in drawn:
        if element.tag == SVG + "g" and not [e for e in element if e.tag not in (SVG + "g", SVG + "title")]:
            continue  # a curve without points has a group, but nothing is drawn
        for name in ("fill", "stroke", "color"):
            value = colour(element.get(name, ""))
            if value and value not in palette and value != "#000000":
                fault("colour %s is not of the palette" % value)
    for text in texts:
        if contrast(text.fill, background) < 4.5:
            fault("'%s' has a contrast of %.1f" % (text.words, contrast(text.fill, background)))


def uses_of(root, title):
    """Places of the symbols of all curves of that title, in drawing order."""
    places = []
    for group in root.iter(SVG + "g"):
        name = group.find(SVG + "title")
        if name is None or name.text != title:
            continue
        for use in group.iter(SVG + "use"):
            place = re.search(r"translate\(([-\d.]+),([-\d.]+)\)", use.get("transform"))
            places.append((float(place.group(1)), float(place.group(2))))
    return places


def draws(root, title):
    for group in root.iter(SVG + "g"):
        name = group.find(SVG + "title")
        if name is not None and name.text == title and list(group.iter(SVG + "path")):
            return True
    return False


def check_key(root, texts):
    """A key to the law stands where a law is drawn only."""
    keys = [text.words for text in texts if re.search("(lines|bars): law", text.words)]
    if keys and not draws(root, "law") and not draws(root, "panel law"):
        fault("'%s', but no law is drawn" % keys[0])


def datablock(script, name):
    body = re.search(re.escape(name) + r" << EOD\n(.*?)EOD\n", script, re.S).group(1)
    return [tuple(float(v) for v in line.split()) for line in body.split("\n") if line.strip()]


def ticks(script, axis):
    """The first `set xtics (...)` of the script: the values; the drawn labels follow in order."""
    body = re.search(r"set %stics \((.*?)\) noenhanced" % axis, script).group(1)
    return [float(v) for v in re.findall(r"' ([-+.\deE]+)", body)]


def tick_marks(root):
    """Pixels of the tick marks of the main panel: x of those that hang, y of those that stick out left."""
    xs, ys = [], []
    for path in root.iter(SVG + "path"):
        mark = re.fullmatch(r"M([-\d.]+),([-\d.]+) L([-\d.]+),([-\d.]+)\s*", path.get("d", ""))
        if not mark or path.get("class") == "gridline":
            continue
        x0, y0, x1, y1 = (float(v) for v in mark.groups())
        if x0 == x1 and 4 < y1 - y0 < 8:
            xs.append((x0, y0))
        if y0 == y1 and 4 < x0 - x1 < 8:
            ys.append((y0, x0))
    bottom = min(y for _, y in xs)
    return [x for x, y in xs if y == bottom], [y for y, _ in ys if y <= bottom]


def mapping(values, pixels, log):
    """value -> pixel through the first and the last tick."""
    a, b = values[0], values[-1]
    scale = (lambda v: math.log2(v)) if log else (lambda v: v)
    return lambda v: pixels[0] + (scale(v) - scale(a)) / (scale(b) - scale(a)) * (pixels[-1] - pixels[0])


def check_geometry(root, script, places):
    values_x, values_y = ticks(script, "x"), ticks(script, "y")
    pixels_x, pixels_y = tick_marks(root)
    if len(values_x) < 2 or len(values_y) < 2:
        return
    if len(pixels_x) != len(values_x) or len(pixels_y) != len(values_y):
        fault("%d x and %d y tick marks, but %d and %d ticks" % (len(pixels_x), len(pixels_y), len(values_x), len(values_y)))
        return
    is_log = {n: int(re.search(n + r"_LOG = (\d)", script).group(1)) for n in "XY"}
    to_x = mapping(values_x, pixels_x, is_log["X"])
    to_y = mapping(values_y, pixels_y, is_log["Y"])
    for row, place in zip(datablock(script, "$dots"), places):
        off_x, off_y = to_x(row[0]) - place[0], to_y(row[1]) - place[1]
        if abs(off_x) > 1 or abs(off_y) > 1:
            fault("the point %g, %g is drawn %.1f, %.1f px off" % (row[0], row[1], off_x, off_y))


def check_dots(root, script, dots):
    name = re.search(r"DOT_NAME = '(\w+)'", script).group(1)
    places = uses_of(root, name)
    if len(places) != dots:
        fault("%d symbols in the group '%s', %d points" % (len(places), name, dots))
    if dots:
        check_geometry(root, script, places)


def main():
    chart, script_file, dots, required = (sys.argv[1:4] + [None, None])[:3] + [sys.argv[4:]]
    root = ET.parse(chart).getroot()
    script = open(script_file, encoding="utf-8").read() if script_file else ""
    view = [float(v) for v in root.get("viewBox").split()[2:]]
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    if len(ids) != len(set(ids)):
        fault("an id stands twice")
    texts = texts_of(root)
    check_texts(texts, view, required, "hacked" in script)
    check_colours(root, texts)
    check_key(root, texts)
    if script_file:
        check_dots(root, script, int(dots))
    for text in faults[:20]:
        print("%s: %s" % (chart, text))
    return 1 if faults else 0


sys.exit(main())
