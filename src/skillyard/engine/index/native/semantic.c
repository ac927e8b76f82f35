/* Semantic search: dot products with every vector. */
#include "engine.h"

static int16_t *direction_of(const Engine *self, PyObject *source)
{
    Py_buffer query;
    if (view_of(source, &query, 1, PyBUF_ND) < 0) {
        return NULL;
    }
    int16_t *wide = NULL;
    if (self->dimensions == 0 || query.len != self->dimensions) {
        PyErr_SetString(PyExc_ValueError, "the query's vector has another size");
    } else {
        wide = widened(&query);
    }
    PyBuffer_Release(&query);
    return wide;
}

const char nearest_doc[] = PyDoc_STR(
"nearest(query, limit) -> [(ordinal, dot)]\n\n"
"The highest dot products above zero; documents that are no answers have none.");

PyObject *engine_nearest(PyObject *object, PyObject *arguments)
{
    Engine *self = (Engine *)object;
    PyObject *source, *result = NULL;
    Py_ssize_t limit, count;
    Best best;
    Pass pass;
    if (!PyArg_ParseTuple(arguments, "On", &source, &limit)) {
        return NULL;
    }
    int16_t *wide = direction_of(self, source);
    if (wide == NULL) {
        return NULL;
    }
    Ranked *ranked = NULL;
    if (best_start(&best, limit, 0, self->documents) < 0) {
        goto done;
    }
    if (pass_begin(self, &pass) < 0) {
        goto done;
    }
    int wrong = 0;
    for (Py_ssize_t number = 0; number < self->count; number++) {
        const Part *part = &self->parts[number];
        Py_ssize_t out = 0;
        for (Py_ssize_t start = 0; start < part->count && wrong == 0; start += AT_ONCE) {
            Py_ssize_t end = start + AT_ONCE < part->count ? start + AT_ONCE : part->count;
            dot_each((const int8_t *)part->vectors.buf + start * self->dimensions, end - start,
                     self->dimensions, wide, pass.totals);
            for (; out < part->silent_count && part->silent[out] < end; out++) {
                pass.totals[part->silent[out] - start] = 0;
            }
            wrong = best_add(&best, pass.totals, end - start,
                             (uint32_t)number << SHIFT | (uint32_t)start);
        }
    }
    pass_end(self, &pass);
    if (wrong < 0) {
        PyErr_NoMemory();
        goto done;
    }
    best_finish(&best);
    ranked = ranked_of(self, &best, best.length, &count);
    if (ranked != NULL) {
        qsort(ranked, (size_t)count, sizeof(Ranked), by_score);
        result = pairs_of(ranked, count < limit ? count : limit > 0 ? limit : 0, 1);
    }
done:
    free(ranked);
    best_free(&best);
    free(wide);
    return result;
}

const char dots_doc[] = PyDoc_STR( "dots(query, ordinals) -> [dot]\n\nThe dot product of each document.");

PyObject *engine_dots(PyObject *object, PyObject *arguments)
{
    Engine *self = (Engine *)object;
    PyObject *source, *ordinals;
    if (!PyArg_ParseTuple(arguments, "OO!", &source, &PyList_Type, &ordinals)) {
        return NULL;
    }
    int16_t *wide = direction_of(self, source);
    if (wide == NULL) {
        return NULL;
    }
    PyObject *result = NULL;
    Py_ssize_t count = PyList_Size(ordinals);
    const int8_t **rows = malloc((size_t)(count + 1) * sizeof(*rows));
    if (rows == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        long long ordinal;
        if (whole_at(ordinals, place, &ordinal) < 0) {
            goto done;
        }
        if (ordinal < 0 || ordinal >> SHIFT >= self->count ||
            (ordinal & MASK) >= self->parts[ordinal >> SHIFT].count) {
            PyErr_SetString(PyExc_ValueError, "no such document");
            goto done;
        }
        const int8_t *vectors = self->parts[ordinal >> SHIFT].vectors.buf;
        rows[place] = vectors + (ordinal & MASK) * self->dimensions;
        fetch_row(rows[place], self->dimensions); /* all are on their way before one is needed */
    }
    result = PyList_New(count);
    for (Py_ssize_t place = 0; result != NULL && place < count; place++) {
        int32_t dot = 0;
        dot_each(rows[place], 1, self->dimensions, wide, &dot);
        PyObject *value = PyLong_FromLong(dot);
        if (value == NULL || PyList_SetItem(result, place, value) < 0) {
            Py_CLEAR(result);
        }
    }
done:
    free(rows);
    free(wide);
    return result;
}
