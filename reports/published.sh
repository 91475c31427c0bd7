#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Prints docs/published.md: every published figure of reports/published beside what the
# model of its card says. usage: reports/published.sh > docs/published.md ($UBENCH: the program)
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/published"
ubench=${UBENCH:-ubench}

# how many figures, and how far the model is from them
summary() {
    for record in *.json; do "$ubench" compare "$record" -f json; done | python3 -c '
import json, statistics, sys
decoder, text, figures = json.JSONDecoder(), sys.stdin.read(), []
while text.strip():
    document, end = decoder.raw_decode(text.lstrip())
    text = text.lstrip()[end:]
    figures += document["published"]

def own_source(figure):
    """Whether the constant behind the prediction is from the same work as the figure."""
    work = figure["published_by"].split()[0].split("/")[-1].rstrip(",@")
    return work in (figure["origin"] or "")

def say(figures):
    errors = sorted(abs(f["error"]) for f in figures)
    return "half of those are within %.1f %%, nine of ten within\n%.0f %%, and the worst is %.0f %% off" % (
        100 * statistics.median(errors), 100 * errors[int(0.9 * len(errors))], 100 * errors[-1])

predicted = [f for f in figures if f["error"] is not None]
independent = [f for f in predicted if not own_source(f)]
print("%d figures of %d cards; for %d of them the model has a prediction. For %d the constant that it rests on\n"
      "is not from the same work as the figure: %s." % (
      len(figures), len({f["device"] for f in figures}), len(predicted), len(independent), say(independent)))
print("Of all: %s." % say(predicted))'
}

cat <<'END'
# Published figures, and what the model says

Written by `reports/published.sh`; the figures are in [reports/published](../reports/published), one
record a card, each with its source, its conditions and its kind: `measured` by its author, `derived`
from what the author measured, or `secondary`, quoted by somebody else.

END
summary
cat <<'END'

**Read the errors with care.** The model's constants for cards that we do not have come from figures
such as these. Where the constant that a prediction rests on has the same source as the figure, the
error only says how well the law carries it to the conditions; the column "it rests on" shows that.
What is independent: stores and loads of structures (`pattern=aos`, from a law fitted on an H200), the
FMA rate (`occupancy`, from clock and lanes), and sources other than the constant's. A figure may also
be the poorer measurement: "not tuned", or a launch with too little in flight.

`ubench compare reports/published/a100.json` prints one card; `ubench compare RUN.json
reports/published/h200.json` puts what a run of the same card measured beside them.
END
for record in *.json; do
    printf '\n## %s\n\n' "$(basename "$record" .json)"
    "$ubench" compare "$record" -f md | grep '^|'
done
