/* Sorted results: documents with scores. */
#include "engine.h"

int by_score(const void *one, const void *other)
{
    const Ranked *left = one, *right = other;
    if (left->score != right->score) {
        return left->score < right->score ? 1 : -1;
    }
    return (left->tie > right->tie) - (left->tie < right->tie);
}

int by_ordinal(const void *one, const void *other)
{
    uint32_t left = ((const Ranked *)one)->ordinal, right = ((const Ranked *)other)->ordinal;
    return (left > right) - (left < right);
}

static uint64_t tie_at(const Engine *self, uint32_t ordinal)
{
    return ((const uint64_t *)self->parts[ordinal >> SHIFT].ties.buf)[ordinal & MASK];
}

/* What was result as a list of its own, cut to `most` by value, ties settled. */
Ranked *ranked_of(const Engine *self, const Best *best, Py_ssize_t most, Py_ssize_t *count)
{
    Ranked *ranked = malloc((size_t)(best->length + 1) * sizeof(Ranked));
    if (ranked == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t place = 0; place < best->length; place++) {
        ranked[place].score = best->list[place].value;
        ranked[place].tie = tie_at(self, best->list[place].ordinal);
        ranked[place].ordinal = best->list[place].ordinal;
    }
    *count = best->length;
    if (*count > most) {
        qsort(ranked, (size_t)*count, sizeof(Ranked), by_score);
        *count = most;
    }
    return ranked;
}

PyObject *pairs_of(const Ranked *ranked, Py_ssize_t count, int whole)
{
    PyObject *result = PyList_New(count > 0 ? count : 0);
    for (Py_ssize_t place = 0; result != NULL && place < count; place++) {
        unsigned long ordinal = ranked[place].ordinal;
        PyObject *pair = whole ? Py_BuildValue("(kl)", ordinal, (long)ranked[place].score)
                               : Py_BuildValue("(kd)", ordinal, ranked[place].score);
        if (pair == NULL || PyList_SetItem(result, place, pair) < 0) {
            Py_CLEAR(result);
        }
    }
    return result;
}
