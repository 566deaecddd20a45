"""Whether numbers that stand for places in something else lie inside of it.

A model looks up what its rows lead to: the class of a neighbour, the mean of a category, the depth
of a leaf. Where one of these is missing only the row that leads there shows it, so that to try the
model is not enough.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from numbers import Real
from typing import Any

import numpy as np

from mercer.persistence import _cells, _outputs
from mercer.persistence._lengths import Facts
from mercer.persistence.errors import RefusalError

State = dict[str, Any]
Rule = Callable[[State, Facts], bool]


def check_places(part: Any, facts: Facts) -> None:
    """Raise RefusalError if a part of a model refers to what is not there."""
    state = vars(part)
    for names in (*RULES, *OUTPUTS):
        if not set(names.split()) <= set(state):
            continue
        try:
            is_sound = RULES[names](state, facts) if names in RULES else OUTPUTS[names](state)
        except (TypeError, ValueError, AttributeError, KeyError, IndexError):
            is_sound = False
        if not is_sound:
            first, *others = names.split()
            beside = f" and its {', '.join(others)}" if others else ""
            raise RefusalError(f"{first} of a {type(part).__name__}{beside} do not fit together")


def _inside(values: Any, count: int, facts: Facts | None = None) -> bool:
    """Return whether all values are places in something of this length.

    With facts, which are about arrays that stay, one in many places is gone through once.
    """
    if not isinstance(values, np.ndarray):
        values, facts = np.array(values), None
    if not values.size:
        return True
    of = Facts().of if facts is None else facts.of
    lowest, highest = of(values, "min", np.min), of(values, "max", np.max)
    return values.dtype.kind in "iu" and bool(0 <= lowest and highest < count)


def _neighbours(state: State, facts: Facts) -> bool:
    rows, count = state["_fit_X"], state["n_samples_fit_"]
    said = state.get("_y")
    return count == rows.shape[0] and (said is None or len(said) == count)


def _codes(state: State, facts: Facts) -> bool:
    """Codes of classes, of several outputs one column each."""
    codes, classes = state["_y"], state["classes_"]
    if not isinstance(classes, list):
        return codes.ndim == 1 and _inside(codes, len(classes), facts)
    columns = zip(codes.T, classes, strict=True)
    return codes.ndim == 2 and all(_inside(each, len(known)) for each, known in columns)


def _words(state: State, facts: Facts) -> bool:
    places = list(state["vocabulary_"].values())
    weights = getattr(state.get("_tfidf"), "idf_", None)
    if weights is not None and len(weights) != len(places):
        return False
    return all(type(place) is int or isinstance(place, np.integer) for place in places) and (
        not places or (min(places) >= 0 and max(places) < len(places))
    )


def _leaves(state: State, facts: Facts) -> bool:
    """Depths of all nodes of all trees of an isolation forest."""
    told = (state["_decision_path_lengths"], state["_average_path_length_per_tree"])
    trees = [tree.tree_.node_count for tree in state["estimators_"]]
    return all([values.shape for values in each] == [(n,) for n in trees] for each in told)


def _codes_of_leaves(state: State, facts: Facts) -> bool:
    """Codes of all leaves of all trees, by which rows are told."""
    known, trees = state["one_hot_encoder_"].categories_, state["estimators_"]
    return all(
        bool(np.isin(np.flatnonzero(tree.tree_.children_left == -1), codes).all())
        for tree, codes in zip(trees, known, strict=True)
    )


def _some_columns(state: State, facts: Facts) -> bool:
    n, trees = state["n_features_in_"], state["estimators_"]
    chosen = state["estimators_features_"]
    return len(chosen) == len(trees) and all(_inside(each, n, facts) for each in chosen)


def _gaps(state: State, facts: Facts) -> bool:
    """Where the rows have gaps that are filled by those of neighbours."""
    rows, gaps, used = (state[name] for name in ("_fit_X", "_mask_fit_X", "_valid_mask"))
    return gaps.shape == rows.shape and used.shape == rows.shape[1:]


def _categories(state: State, facts: Facts) -> bool:
    columns = state["categories_"]
    widths = state.get("_n_features_outs", [0] * len(columns))
    return len(columns) == state["n_features_in_"] and all(
        isinstance(each, np.ndarray) and each.ndim == 1 and 0 <= width <= each.size
        for each, width in zip(columns, widths, strict=True)
    )


def _rare(state: State, facts: Facts) -> bool:
    """Rare categories, and the code that each category has once they are one."""
    columns = zip(
        state["categories_"],
        state["_infrequent_indices"],
        state["_default_to_infrequent_mappings"],
        strict=True,
    )
    return all(
        (rare is None) == (codes is None)
        and (codes is None or (codes.shape == known.shape and _inside(codes, known.size, facts)))
        and (rare is None or _inside(rare, known.size, facts))
        for known, rare, codes in columns
    )


def _encodings(state: State, facts: Facts) -> bool:
    """One number for each category, and of several classes for each category and class."""
    several = state["target_type_"] == "multiclass"
    columns = list(state["categories_"])
    outputs = len(state["classes_"]) if several else 1
    sizes = [known.shape for known in columns for _ in range(outputs)]
    found = state["encodings_"]
    return [each.shape for each in found] == sizes and all(map(_finite, found))


def _bins(state: State, facts: Facts) -> bool:
    """Edges of bins, and the encoder of their numbers where there is one."""
    edges, counts = state["bin_edges_"], state["n_bins_"]
    known = [
        each.shape == (n + 1,) and each.dtype.kind == "f" and bool((each[1:] >= each[:-1]).all())
        for each, n in zip(edges, counts, strict=True)
    ]
    encoder = state.get("_encoder")
    if encoder is not None:
        known += [
            np.array_equal(each, np.arange(n))
            for each, n in zip(encoder.categories_, counts, strict=True)
        ]
    return all(known)


def _ways(state: State, facts: Facts) -> bool:
    """Lengths of the ways between all rows among which neighbours are searched."""
    ways, count = state["dist_matrix_"], state["nbrs_"].n_samples_fit_
    return ways.shape == (count, count) and _finite(ways)


def _powers(state: State, facts: Facts) -> bool:
    """How many products of columns there are, which is as much memory as a row takes."""
    n, least, most = (state[name] for name in ("n_features_in_", "_min_degree", "_max_degree"))
    lonely, bias = state["interaction_only"], state["include_bias"]

    def up_to(degree: int) -> int:
        if lonely:
            return sum(comb(n, k) for k in range(1, min(n, degree) + 1))
        return comb(n + degree, n) - 1

    told = (up_to(most) - up_to(max(0, least - 1)) + bias, up_to(most) + bias)
    return told == (state["n_output_features_"], state["_n_out_full"])


def _table(state: State, facts: Facts) -> bool:
    """What a model of a table tells of its columns, by which new rows are read and judged."""
    columns, known, ranges = (state[name] for name in ("columns", "known", "ranges"))
    names, target, task = (state[name] for name in ("names", "target", "task"))
    words = [
        *columns,
        *columns.values(),
        *names,
        *(word for some in known.values() for word in some),
    ]
    ends = [end for pair in ranges.values() for end in pair]
    return (
        all(isinstance(word, str) for word in words)
        and set(columns.values()) <= {"number", "date", "category", "text"}
        and {*known, *ranges} <= set(columns)
        and all(isinstance(some, list) for some in (names, *known.values()))
        and all(len(pair) == 2 for pair in ranges.values())
        and all(isinstance(end, Real) for end in ends)
        and isinstance(target, str | None)
        and task in ("classification", "regression", "description")
        and isinstance(state["about"], dict)
    )


def _parts_of_words(state: State, facts: Facts) -> bool:
    """Numbers of words, of which a model that is tried sees some only."""
    return _finite(state["components_"])


def _weights_of_words(state: State, facts: Facts) -> bool:
    weights = state["idf_"]
    return _finite(weights) and weights.shape == (state.get("n_features_in_", weights.size),)


def _groups(state: State, facts: Facts) -> bool:
    """Numbers of the groups of columns; a huge one would be that much memory."""
    labels = state["labels_"]
    columns = state.get("n_features_in_", labels.size)
    return labels.shape == (columns,) and _inside(labels, columns, facts)


def _finite(values: Any) -> bool:
    return values.dtype.kind == "f" and bool(np.isfinite(values).all())


RULES: dict[str, Rule] = {
    "_fit_X n_samples_fit_": _neighbours,
    "_y classes_": _codes,
    "vocabulary_": _words,
    "_decision_path_lengths _average_path_length_per_tree estimators_": _leaves,
    "one_hot_encoder_ estimators_": _codes_of_leaves,
    "estimators_features_ estimators_ n_features_in_": _some_columns,
    "_fit_X _mask_fit_X _valid_mask": _gaps,
    "categories_ n_features_in_": _categories,
    "_infrequent_indices _default_to_infrequent_mappings categories_": _rare,
    "encodings_ categories_ target_type_ classes_": _encodings,
    "bin_edges_ n_bins_": _bins,
    "dist_matrix_ nbrs_": _ways,
    "components_ singular_values_": _parts_of_words,
    "pooling_func labels_": _groups,
    "idf_ use_idf": _weights_of_words,
    "model columns": _table,
    "_min_degree _max_degree n_output_features_ _n_out_full": _powers,
    "centres reach directions middle": _cells.is_partition,
    "n_cells_ estimators_": _cells.one_machine_each,
}
"""By the attributes that a part must have for a rule to be about it."""

OUTPUTS: dict[str, Callable[[State], bool]] = {
    "classes_": _outputs.arrays_of_classes,
    "tree_ classes_ n_classes_": _outputs.classes_of_tree,
    "estimators_ classes_ n_classes_": _outputs.classes_of_forest,
    "estimators_ classes_ init_": _outputs.boosted_classes,
    "_predictors classes_": _outputs.rounds_of_classes,
    "estimators_ label_binarizer_": _outputs.one_for_each,
    "le_ classes_": _outputs.coded_classes,
    "feature_log_prob_ n_categories_ classes_": _outputs.probabilities_of_categories,
    "X_ label_distributions_": _outputs.spread_labels,
}
"""The same for classes."""
