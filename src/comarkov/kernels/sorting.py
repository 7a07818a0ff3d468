"""Sorting entries of a matrix that come in any order: into buckets, by a key, and summed."""

import numpy as np

from .compiling import kernel


@kernel()
def count_keys(keys, weights, counts, sums):
    """Count how often each key occurs, and add up its weights."""
    for p in range(keys.size):
        counts[keys[p]] += 1
        sums[keys[p]] += weights[p]


@kernel()
def partition(bucket_of, entries, sizes, out):
    """Copy entries into ``out``, bucket after bucket, in their order inside each.

    ``entries`` and ``out`` are (keys, others, weights); ``sizes`` gets the size of each bucket.
    """
    keys, others, weights = entries
    out_keys, out_others, out_weights = out
    sizes[:] = 0
    for p in range(keys.size):
        sizes[bucket_of[keys[p]]] += 1
    cursor = np.empty(sizes.size, np.int64)
    total = 0
    for b in range(sizes.size):
        cursor[b] = total
        total += sizes[b]
    for p in range(keys.size):
        b = bucket_of[keys[p]]
        q = cursor[b]
        cursor[b] += 1
        out_keys[q] = keys[p]
        out_others[q] = others[p]
        out_weights[q] = weights[p]


@kernel()
def sort_by(keys, entries, first, indptr, out):
    """Copy entries into ``out`` by increasing key, in their order for each key.

    Keys are from ``first`` on. ``indptr`` gets the place where each begins, and the end.
    """
    others, weights = entries
    out_others, out_weights = out
    indptr[:] = 0
    for p in range(keys.size):
        indptr[keys[p] - first + 1] += 1
    for x in range(indptr.size - 1):
        indptr[x + 1] += indptr[x]
    for p in range(keys.size):
        x = keys[p] - first
        q = indptr[x]
        indptr[x] += 1
        out_others[q] = others[p]
        out_weights[q] = weights[p]
    for x in range(indptr.size - 1, 0, -1):  # each has moved to the beginning of the next
        indptr[x] = indptr[x - 1]
    indptr[0] = 0


@kernel()
def add_equal(indptr, indices, weights):
    """Add up the weights of equal neighbours in each row, and leave out zeros, all in place.

    ``indptr`` gets the new places; the first indptr[-1] entries count.
    """
    q = 0
    p = indptr[0]
    for x in range(indptr.size - 1):
        end = indptr[x + 1]
        indptr[x] = q
        while p < end:
            y = indices[p]
            w = weights[p]
            p += 1
            while p < end and indices[p] == y:
                w += weights[p]
                p += 1
            if w != 0:
                indices[q] = y
                weights[q] = w
                q += 1
    indptr[indptr.size - 1] = q
