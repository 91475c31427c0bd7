# SPDX-License-Identifier: MIT
"""Looks at a report as a reader, a screen reader and a suspicious browser would.

usage: check_page.py PAGE.html [--charts N] [TEXT]...

Prints each fault and exits 1, or exits 0. N: how many charts there must be; TEXT:
words that must stand in the page.
"""
import argparse
import json
import re
import sys
import xml.etree.ElementTree as ET

faults = []
FORBIDDEN = {"link", "img", "iframe", "object", "embed", "form", "input", "base", "audio", "video", "image", "use",
             "foreignObject", "animate", "set"}


def fault(text):
    faults.append(text)


def words_of(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def check_safety(root, text):
    """Nothing of the page can run or load anything."""
    for element in root.iter():
        if element.tag in FORBIDDEN:
            fault("an element <%s>" % element.tag)
        if element.tag == "script" and element.get("type") != "application/json":
            fault("a script that is no data")
        for name, value in element.items():
            if name.lower().startswith("on"):
                fault("<%s %s=...>" % (element.tag, name))
            if name in ("src", "srcset", "action", "data", "poster", "background", "formaction"):
                fault("<%s %s=%s>" % (element.tag, name, value))
            if name.split("}")[-1] == "href" and not value.startswith("#"):
                fault("a link to %s" % value)
            if re.search(r"url\(|expression|javascript:", value, re.I) and name == "style":
                fault("style %s" % value)
    styles = "".join(s.text or "" for s in root.iter("style"))
    if re.search(r"url\(|@import", styles):
        fault("the style loads something")
    if 'http-equiv="Content-Security-Policy"' not in text or "default-src 'none'" not in text:
        fault("no content security policy")


def check_structure(root):
    """Ids, links, headings, language."""
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    for name in {i for i in ids if ids.count(i) > 1}:
        fault("the id %s stands twice" % name)
    for element in root.iter():
        for name in ("aria-labelledby", "aria-describedby"):
            for wanted in (element.get(name) or "").split():
                if wanted not in ids:
                    fault("%s=%s names nothing" % (name, wanted))
        href = element.get("href") or ""
        if href.startswith("#") and href[1:] not in ids:
            fault("the link %s leads nowhere" % href)
    levels = [int(e.tag[1]) for e in root.iter() if re.fullmatch(r"h[1-6]", e.tag)]
    if levels.count(1) != 1 or levels[0] != 1:
        fault("headings begin with %s" % levels[:3])
    for before, after in zip(levels, levels[1:]):
        if after > before + 1:
            fault("a heading h%d behind an h%d" % (after, before))
    if root.get("lang") != "en" or not (root.findtext("head/title") or "").strip():
        fault("no language or no title")
    order = [words_of(e) for e in root.iter() if e.tag in ("h1", "h2")]
    if order[1] != "Warnings":
        fault("warnings do not come first: %s" % order[:3])


def check_charts(root, wanted):
    """Every chart has words and a table beside it."""
    parents = {child: parent for parent in root.iter() for child in parent}
    charts = [e for e in root.iter("svg") if e.get("role") == "img"]
    for svg in root.iter("svg"):
        if svg.get("role") != "img" and svg.get("aria-hidden") != "true":
            fault("a picture without a role")
    if wanted is not None and len(charts) != wanted:
        fault("%d charts, not %d" % (len(charts), wanted))
    for chart in charts:
        if len(chart.get("aria-label") or "") < 60:
            fault("a chart without words: %s" % chart.get("aria-label"))
        home = chart
        while home in parents and home.tag not in ("section", "details"):
            home = parents[home]
        if home.find(".//table") is None:
            fault("a chart without a table: %s" % chart.get("aria-label"))
        texts = " ".join(words_of(t) for t in chart.iter("text"))
        if re.search(r"\bnan\b|\binf\b", texts, re.I):
            fault("a chart says: %s" % texts)
    for table in root.iter("table"):
        if table.find("caption") is None or not words_of(table.find("caption")):
            fault("a table without a caption")
        if any(not th.get("scope") for th in table.iter("th")):
            fault("a heading of a table without a scope")


def luminance(rgb):
    parts = [int(rgb[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def check_contrast(root):
    """Words against each ground that they stand on, light and dark."""
    styles = "".join(s.text or "" for s in root.iter("style"))
    light, dark = {}, {}
    for rules in re.finditer(r"(@media screen and \(prefers-color-scheme:dark\)\{)?:root\{(.*?)\}", styles, re.S):
        found = dict(re.findall(r"--([\w-]+):(#[0-9A-Fa-f]{6})", rules.group(2)))
        (dark if rules.group(1) else light).update(found)
    if set(light) != set(dark) or len(light) < 12:
        fault("light and dark do not have the same colours")
    for colours, name in ((light, "light"), (dark, "dark")):
        pairs = [(w, g) for w in ("fg", "mut", "second", "bad", "off", "link") for g in ("bg", "card")]
        pairs += [(w, "bg") for w in ("law", "s1", "s2", "s3", "s4", "s5", "s6")] + [("fg", "code")]
        for word, ground in pairs:
            high, low = sorted((luminance(colours[word]), luminance(colours[ground])), reverse=True)
            ratio = (high + 0.05) / (low + 0.05)
            if ratio < 4.5:
                fault("%s: %s on %s has a contrast of %.2f" % (name, word, ground, ratio))


def check_data(root):
    scripts = [e for e in root.iter("script")]
    if not scripts:
        fault("the page carries no record")
    for script in scripts:
        if script.get("type") != "application/json":
            continue
        record = json.loads(script.text)["ubench"]
        if record["schema"] != 1 or '"samples":{"all":[' in script.text:
            fault("a record with samples, or of another schema")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page")
    parser.add_argument("--charts", type=int)
    parser.add_argument("texts", nargs="*")
    options = parser.parse_args()
    text = open(options.page, encoding="utf-8").read()
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        print("%s: not well-formed: %s" % (options.page, error))
        return 1
    if not text.startswith("<!DOCTYPE html>"):
        fault("no doctype")
    check_safety(root, text)
    check_structure(root)
    check_charts(root, options.charts)
    check_contrast(root)
    check_data(root)
    everything = words_of(root.find("body"))
    for words in options.texts:
        if words not in everything:
            fault("'%s' is missing" % words)
    for words in faults[:20]:
        print("%s: %s" % (options.page, words))
    return 1 if faults else 0


sys.exit(main())
