/* Exact scores, computed with doubles from the forward lists. */
#include "engine.h"

#include <math.h>

static int spans_of(const Engine *self, PyObject *spans, Query *query)
{
    query->count = PyList_Size(spans);
    if (query->count > MAX_TERMS) {
        PyErr_SetString(PyExc_ValueError, "too many terms");
        return -1;
    }
    for (Py_ssize_t place = 0; place < query->count; place++) {
        char *bytes;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyList_GetItem(spans, place), &bytes, &length) < 0) {
            return -1;
        }
        if (length != self->count * (Py_ssize_t)sizeof(Span)) {
            PyErr_SetString(PyExc_ValueError, "a term of another engine");
            return -1;
        }
        query->spans[place] = bytes;
    }
    return 0;
}

int query_of(const Engine *self, PyObject *spans, PyObject *weights, Query *query)
{
    if (spans_of(self, spans, query) < 0) {
        return -1;
    }
    if (query->count != PyList_Size(weights)) {
        PyErr_SetString(PyExc_ValueError, "terms and weights differ in number");
        return -1;
    }
    for (Py_ssize_t place = 0; place < query->count; place++) {
        double weight = PyFloat_AsDouble(PyList_GetItem(weights, place));
        if (weight == -1.0 && PyErr_Occurred()) {
            return -1;
        }
        if (!isfinite(weight)) {
            PyErr_SetString(PyExc_ValueError, "a weight is no number");
            return -1;
        }
        query->weights[place] = weight;
    }
    return 0;
}

Span span_at(const Query *query, Py_ssize_t place, Py_ssize_t part)
{
    Span span;
    memcpy(&span, query->spans[place] + (size_t)part * sizeof(Span), sizeof(Span));
    return span;
}

/* A term's number in one part, and its place in the query. */
typedef struct {
    uint32_t number, place;
} QueryTerm;

/* The terms of a query that one part knows, by number, and a filter that most others fail. */
typedef struct {
    Py_ssize_t count;
    QueryTerm terms[MAX_TERMS];
    uint32_t bits[128];
} PartQuery;

static int by_number(const void *one, const void *other)
{
    uint32_t left = ((const QueryTerm *)one)->number, right = ((const QueryTerm *)other)->number;
    return (left > right) - (left < right);
}

static void seek(const Query *query, Py_ssize_t part, PartQuery *part_query)
{
    part_query->count = 0;
    memset(part_query->bits, 0, sizeof(part_query->bits));
    for (Py_ssize_t place = 0; place < query->count; place++) {
        Span span = span_at(query, place, part);
        if (span.number >= 0 && span.number <= UINT32_MAX) {
            uint32_t number = (uint32_t)span.number;
            part_query->terms[part_query->count].number = number;
            part_query->terms[part_query->count++].place = (uint32_t)place;
            part_query->bits[number >> 5 & 127] |= (uint32_t)1 << (number & 31);
        }
    }
    qsort(part_query->terms, (size_t)part_query->count, sizeof(QueryTerm), by_number);
}

/* Set each[place] to the impact of the term in that place, for the terms that a document holds. */
static void look_up(const PartQuery *part_query, const uint32_t *terms, const float *values,
                    Py_ssize_t length, double *each)
{
    if (part_query->count * 16 < length) { /* few terms: each is looked for in the list */
        Py_ssize_t low = 0;
        for (Py_ssize_t term = 0; term < part_query->count; term++) {
            uint32_t number = part_query->terms[term].number;
            Py_ssize_t high = length;
            while (low < high) {
                Py_ssize_t middle = low + (high - low) / 2;
                if (terms[middle] < number) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if (low < length && terms[low] == number) {
                each[part_query->terms[term].place] = values[low];
            }
        }
        return;
    }
    Py_ssize_t next = 0;
    for (Py_ssize_t place = 0; place < length; place++) { /* many: both go up together */
        uint32_t number = terms[place];
        if (!(part_query->bits[number >> 5 & 127] >> (number & 31) & 1)) {
            continue;
        }
        while (next < part_query->count && part_query->terms[next].number < number) {
            next++;
        }
        for (; next < part_query->count && part_query->terms[next].number == number; next++) {
            each[part_query->terms[next].place] = values[place];
        }
    }
}

/* Set each[place] to a document's impact of the term in that place, 0 where it is absent. */
static int impacts_of(const Part *part, const PartQuery *part_query, uint32_t number, double *each)
{
    const uint32_t *starts = part->starts.buf;
    Py_ssize_t first = starts[number], last = starts[number + 1];
    if (first > last || last > items_of(&part->terms)) {
        PyErr_SetString(PyExc_ValueError, "a forward list lies outside its section");
        return -1;
    }
    look_up(part_query, (const uint32_t *)part->terms.buf + first,
            (const float *)part->values.buf + first, last - first, each);
    return 0;
}

/* The exact score of one document: added one by one in the order of the query. Where held is set,
   a term that the document holds counts its weight, whatever its impact. */
static int exact_score(const Part *part, const Query *query, const PartQuery *part_query, uint32_t number,
                       int held, double *score)
{
    double each[MAX_TERMS] = {0.0};
    if (impacts_of(part, part_query, number, each) < 0) {
        return -1;
    }
    double total = 0.0;
    for (Py_ssize_t place = 0; place < query->count; place++) {
        double impact = held && each[place] != 0.0 ? 1.0 : each[place];
        total += query->weights[place] * impact;
    }
    *score = total;
    return 0;
}

static int append_number(PyObject *list, unsigned long value)
{
    PyObject *number = PyLong_FromUnsignedLong(value);
    int failed = number == NULL || PyList_Append(list, number) < 0;
    Py_XDECREF(number);
    return failed ? -1 : 0;
}

/* Score documents, or name those whose forward lists were not checked. Ordered by part. */
int score_all(const Engine *self, const Query *query, Ranked *ranked, Py_ssize_t count, int held,
              PyObject *unread)
{
    PartQuery part_query;
    Py_ssize_t current = -1;
    for (Py_ssize_t place = 0; place < count; place++) {
        Py_ssize_t number = ranked[place].ordinal >> SHIFT;
        uint32_t document = ranked[place].ordinal & MASK;
        if (number >= self->count || document >= self->parts[number].count) {
            PyErr_SetString(PyExc_ValueError, "no such document");
            return -1;
        }
        const Part *part = &self->parts[number];
        if (!((const uint8_t *)part->read.buf)[document]) {
            if (append_number(unread, ranked[place].ordinal) < 0) {
                return -1;
            }
            continue;
        }
        if (number != current) {
            seek(query, number, &part_query);
            current = number;
        }
        if (exact_score(part, query, &part_query, document, held, &ranked[place].score) < 0) {
            return -1;
        }
        ranked[place].tie = ((const uint64_t *)part->ties.buf)[document];
    }
    return 0;
}

const char exact_scores_doc[] = PyDoc_STR(
"exact_scores(spans, weights, ordinals) -> ([score], [unread])\n\n"
"The exact score of each document, or the ones whose forward lists have to be checked before.");

const char matched_weights_doc[] = PyDoc_STR(
"matched_weights(spans, weights, ordinals) -> ([weight], [unread])\n\n"
"What the terms weigh that each document holds, or the documents as exact names them.");

static PyObject *scores_of(PyObject *object, PyObject *arguments, int held)
{
    Engine *self = (Engine *)object;
    PyObject *spans, *weights, *ordinals, *unread = NULL, *result = NULL, *answer = NULL;
    Query query;
    if (!PyArg_ParseTuple(arguments, "O!O!O!", &PyList_Type, &spans, &PyList_Type, &weights,
                          &PyList_Type, &ordinals) ||
        query_of(self, spans, weights, &query) < 0) {
        return NULL;
    }
    Py_ssize_t count = PyList_Size(ordinals);
    Ranked *ranked = malloc((size_t)(count + 1) * sizeof(Ranked));
    if (ranked == NULL) {
        return PyErr_NoMemory();
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        long long ordinal;
        if (whole_at(ordinals, place, &ordinal) < 0) {
            goto done;
        }
        if (ordinal < 0 || ordinal > UINT32_MAX) {
            PyErr_SetString(PyExc_ValueError, "no such document");
            goto done;
        }
        ranked[place].ordinal = (uint32_t)ordinal;
        ranked[place].score = 0.0;
    }
    unread = PyList_New(0);
    if (unread == NULL || score_all(self, &query, ranked, count, held, unread) < 0) {
        goto done;
    }
    result = PyList_New(PyList_Size(unread) ? 0 : count);
    for (Py_ssize_t place = 0; result != NULL && place < PyList_Size(result); place++) {
        PyObject *score = PyFloat_FromDouble(ranked[place].score);
        if (score == NULL || PyList_SetItem(result, place, score) < 0) {
            Py_CLEAR(result);
        }
    }
    if (result != NULL) {
        answer = Py_BuildValue("(OO)", result, unread);
    }
done:
    Py_XDECREF(result);
    Py_XDECREF(unread);
    free(ranked);
    return answer;
}

const char impacts_doc[] = PyDoc_STR(
"impacts(spans, ordinal) -> [impact] or None\n\n"
"A document's impact of each term, 0.0 where it is absent; None where its forward list has to be\n"
"checked before.");

PyObject *engine_impacts(PyObject *object, PyObject *arguments)
{
    Engine *self = (Engine *)object;
    PyObject *spans;
    long long ordinal;
    Query query;
    PartQuery part_query;
    double each[MAX_TERMS] = {0.0};
    if (!PyArg_ParseTuple(arguments, "O!L", &PyList_Type, &spans, &ordinal) ||
        spans_of(self, spans, &query) < 0) {
        return NULL;
    }
    if (ordinal < 0 || ordinal >> SHIFT >= self->count ||
        (ordinal & MASK) >= self->parts[ordinal >> SHIFT].count) {
        PyErr_SetString(PyExc_ValueError, "no such document");
        return NULL;
    }
    const Part *part = &self->parts[ordinal >> SHIFT];
    uint32_t number = (uint32_t)(ordinal & MASK);
    if (!((const uint8_t *)part->read.buf)[number]) {
        Py_INCREF(Py_None);
        return Py_None;
    }
    seek(&query, (Py_ssize_t)(ordinal >> SHIFT), &part_query);
    if (impacts_of(part, &part_query, number, each) < 0) {
        return NULL;
    }
    PyObject *result = PyList_New(query.count);
    for (Py_ssize_t place = 0; result != NULL && place < query.count; place++) {
        PyObject *impact = PyFloat_FromDouble(each[place]);
        if (impact == NULL || PyList_SetItem(result, place, impact) < 0) {
            Py_CLEAR(result);
        }
    }
    return result;
}

PyObject *engine_exact_scores(PyObject *object, PyObject *arguments)
{
    return scores_of(object, arguments, 0);
}

PyObject *engine_matched_weights(PyObject *object, PyObject *arguments)
{
    return scores_of(object, arguments, 1);
}
