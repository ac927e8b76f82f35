/* Lexical search: integer sums over postings, then exact scores of the contenders. */
#include "engine.h"

#include <math.h>

#define WHOLE 1023.0

enum { SOUND, OUTSIDE, NO_MEMORY };

/* Postings of one term that are still to be added. */
typedef struct {
    const uint16_t *document, *last;
    const uint8_t *impact;
    int32_t weight;
} Run;

/* Add the postings of documents below `end` to the totals. Masked, so that no list, however it
 * lies, leads out of them. */
static void add_run(Run *run, int32_t *totals, uint32_t end)
{
    const uint16_t *document = run->document, *last = run->last;
    const uint8_t *impact = run->impact;
    const int32_t weight = run->weight;
    while (last - document >= 4 && document[3] < end) { /* a term names a document once */
        totals[document[0] & (AT_ONCE - 1)] += weight * impact[0];
        totals[document[1] & (AT_ONCE - 1)] += weight * impact[1];
        totals[document[2] & (AT_ONCE - 1)] += weight * impact[2];
        totals[document[3] & (AT_ONCE - 1)] += weight * impact[3];
        document += 4;
        impact += 4;
    }
    while (document < last && *document < end) {
        totals[*document++ & (AT_ONCE - 1)] += weight * *impact++;
    }
    run->document = document;
    run->impact = impact;
}

/* First pass over one part: whole numbers over postings, so many documents at a time that their
 * sums stay in the innermost cache. Returns what went wrong; no error is set. */
static int sum_part(const Engine *self, Py_ssize_t number, const Query *query,
                    const int32_t *whole, int32_t *totals, Best *best)
{
    const Part *part = &self->parts[number];
    Py_ssize_t postings = items_of(&part->documents), runs = 0, gone = 0;
    Run run[MAX_TERMS];
    for (Py_ssize_t place = 0; place < query->count; place++) {
        Span span = span_at(query, place, number);
        if (span.number < 0) {
            continue;
        }
        if (span.first < 0 || span.first > span.last || span.last > postings) {
            return OUTSIDE;
        }
        run[runs].document = (const uint16_t *)part->documents.buf + span.first;
        run[runs].last = (const uint16_t *)part->documents.buf + span.last;
        run[runs].impact = (const uint8_t *)part->impacts.buf + span.first;
        run[runs++].weight = whole[place];
    }
    for (Py_ssize_t start = 0; runs && start < part->count; start += AT_ONCE) {
        Py_ssize_t end = start + AT_ONCE < part->count ? start + AT_ONCE : part->count;
        memset(totals, 0, (size_t)(end - start) * sizeof(int32_t));
        for (Py_ssize_t each = 0; each < runs; each++) {
            add_run(&run[each], totals, (uint32_t)end);
        }
        for (; gone < part->dead_count && part->dead[gone] < end; gone++) {
            totals[part->dead[gone] - start] = 0;
        }
        if (best_add(best, totals, end - start,
                     (uint32_t)number << SHIFT | (uint32_t)start) < 0) {
            return NO_MEMORY;
        }
    }
    return SOUND;
}

const char lexical_doc[] = PyDoc_STR(
"lexical(spans, weights, limit, candidates) -> ([(ordinal, score)], [unread])\n\n"
"The best by exact score among the candidates of the first pass, or the documents whose forward\n"
"lists have to be checked before. spans: one bytes object a term, see Reader.");

PyObject *engine_lexical(PyObject *object, PyObject *arguments)
{
    Engine *self = (Engine *)object;
    PyObject *spans, *weights, *held = NULL, *unread = NULL, *hits = NULL, *answer = NULL;
    Py_ssize_t limit, candidates;
    Query query;
    Best best;
    Pass pass;
    Ranked *ranked = NULL;
    int32_t whole[MAX_TERMS];
    if (!PyArg_ParseTuple(arguments, "O!O!nn", &PyList_Type, &spans, &PyList_Type, &weights, &limit,
                          &candidates) ||
        query_of(self, spans, weights, &query) < 0) {
        return NULL;
    }
    double top = query.count ? query.weights[0] : 1.0, slack = 0.0;
    for (Py_ssize_t place = 1; place < query.count; place++) {
        top = query.weights[place] > top ? query.weights[place] : top;
    }
    if (!(top > 0.0)) {
        PyErr_SetString(PyExc_ValueError, "no weight is above zero");
        return NULL;
    }
    for (Py_ssize_t place = 0; place < query.count; place++) {
        double value = rint(WHOLE * query.weights[place] / top);
        whole[place] = value < 1.0 ? 1 : (int32_t)value;
        slack += WHOLE * query.weights[place] / top + 255.0;
    }
    Py_ssize_t rescored = limit < self->documents ? limit : self->documents;
    rescored = rescored > candidates ? rescored : candidates;
    /* As many as are rescored are looked at again: then who lies behind by the sum stays out. */
    int64_t behind = rescored > limit ? (int64_t)(2.01 * slack) + 1 : 0;
    if (best_start(&best, limit, behind, self->documents) < 0) {
        return NULL;
    }
    held = PyList_AsTuple(spans); /* the spans stay, whatever others do to the list */
    if (held == NULL || pass_begin(self, &pass) < 0) {
        goto done;
    }
    int wrong = SOUND;
    for (Py_ssize_t number = 0; number < self->count && wrong == SOUND; number++) {
        wrong = sum_part(self, number, &query, whole, pass.totals, &best);
    }
    pass_end(self, &pass);
    if (wrong == OUTSIDE) {
        PyErr_SetString(PyExc_ValueError, "a span lies outside the postings");
    } else if (wrong == NO_MEMORY) {
        PyErr_NoMemory();
    }
    if (wrong != SOUND) {
        goto done;
    }
    best_finish(&best);
    Py_ssize_t count;
    ranked = ranked_of(self, &best, rescored, &count);
    unread = PyList_New(0);
    if (ranked == NULL || unread == NULL) {
        goto done;
    }
    qsort(ranked, (size_t)count, sizeof(Ranked), by_ordinal);
    if (score_all(self, &query, ranked, count, 0, unread) < 0) {
        goto done;
    }
    if (PyList_Size(unread)) {
        hits = PyList_New(0);
    } else {
        qsort(ranked, (size_t)count, sizeof(Ranked), by_score);
        hits = pairs_of(ranked, count < limit ? count : limit, 0);
    }
    if (hits != NULL) {
        answer = Py_BuildValue("(OO)", hits, unread);
    }
done:
    Py_XDECREF(held);
    Py_XDECREF(hits);
    Py_XDECREF(unread);
    free(ranked);
    best_free(&best);
    return answer;
}
