/* The inner loops of an index: the same answers as the Python beside it, sooner.
 *
 * Every function takes buffers and lists, checks every bound before it reads, and keeps nothing.
 * Whole numbers are exact whatever the order of adding; doubles are added in the order of the
 * query, and the build forbids the compiler to fuse a multiplication with an addition
 * (-ffp-contract=off), so the bits are those of Python. Built for the stable ABI of CPython 3.11.
 */
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DOCUMENTS 65536

/* On x86-64 one binary holds the loop twice; which one runs is asked of the processor. */
#if defined(__GNUC__) && defined(__x86_64__)
#define HAVE_AVX2 1
#include <immintrin.h>
#else
#define HAVE_AVX2 0
#endif

/* A buffer of one dimension whose items have the size that is expected of them. */
static int view_of(PyObject *source, Py_buffer *view, Py_ssize_t item, int flags)
{
    if (PyObject_GetBuffer(source, view, flags | PyBUF_FORMAT) < 0) {
        return -1;
    }
    if (view->itemsize != item) {
        PyErr_Format(PyExc_TypeError, "items of %zd bytes, not %zd", view->itemsize, item);
        PyBuffer_Release(view);
        return -1;
    }
    return 0;
}

static Py_ssize_t items_of(const Py_buffer *view)
{
    return view->len / view->itemsize;
}

static int whole_at(PyObject *list, Py_ssize_t place, long long *value)
{
    PyObject *item = PyList_GetItem(list, place); /* borrowed */
    if (item == NULL) {
        return -1;
    }
    *value = PyLong_AsLongLong(item);
    return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

/* ---- the best of many whole numbers ---------------------------------------------------- */

typedef struct {
    int64_t *heap; /* the smallest first */
    Py_ssize_t used;
} Heap;

static void sift_down(int64_t *heap, Py_ssize_t used, Py_ssize_t place)
{
    int64_t value = heap[place];
    for (;;) {
        Py_ssize_t child = 2 * place + 1;
        if (child >= used) {
            break;
        }
        if (child + 1 < used && heap[child + 1] < heap[child]) {
            child++;
        }
        if (heap[child] >= value) {
            break;
        }
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = value;
}

static void sift_up(int64_t *heap, Py_ssize_t place)
{
    int64_t value = heap[place];
    while (place > 0) {
        Py_ssize_t parent = (place - 1) / 2;
        if (heap[parent] <= value) {
            break;
        }
        heap[place] = heap[parent];
        place = parent;
    }
    heap[place] = value;
}

/* [(value, place)] of the `limit` highest above 0, and all at most `slack` below the last of them. */
static PyObject *top(const int32_t *values, Py_ssize_t count, Py_ssize_t limit, Py_ssize_t slack)
{
    PyObject *found = PyList_New(0);
    int64_t least = 1;
    if (found == NULL || limit <= 0) {
        return found;
    }
    if (count > limit) {
        Heap kept = {malloc((size_t)limit * sizeof(int64_t)), 0};
        if (kept.heap == NULL) {
            Py_DECREF(found);
            return PyErr_NoMemory();
        }
        int32_t bar = 0; /* what a value must exceed to get in */
        for (Py_ssize_t place = 0; place < count; place++) {
            int32_t value = values[place];
            if (value <= bar) {
                continue;
            }
            if (kept.used < limit) {
                kept.heap[kept.used] = value;
                sift_up(kept.heap, kept.used++);
                if (kept.used == limit) {
                    bar = (int32_t)kept.heap[0];
                }
            } else {
                kept.heap[0] = value;
                sift_down(kept.heap, kept.used, 0);
                bar = (int32_t)kept.heap[0];
            }
        }
        if (kept.used == limit && kept.heap[0] - slack > least) {
            least = kept.heap[0] - slack;
        }
        free(kept.heap);
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        if (values[place] >= least) {
            PyObject *pair = Py_BuildValue("(in)", (int)values[place], place);
            if (pair == NULL || PyList_Append(found, pair) < 0) {
                Py_XDECREF(pair);
                Py_DECREF(found);
                return NULL;
            }
            Py_DECREF(pair);
        }
    }
    return found;
}

/* Set the places named in a list to 0; ValueError for one that is not there. */
static int silence(int32_t *values, Py_ssize_t count, PyObject *places)
{
    Py_ssize_t listed = PyList_Size(places);
    for (Py_ssize_t number = 0; number < listed; number++) {
        long long place;
        if (whole_at(places, number, &place) < 0) {
            return -1;
        }
        if (place < 0 || place >= count) {
            PyErr_SetString(PyExc_ValueError, "no such document");
            return -1;
        }
        values[place] = 0;
    }
    return listed < 0 ? -1 : 0;
}

/* ---- words ------------------------------------------------------------------------------ */

static void add_postings(int32_t *totals, const uint16_t *documents, const uint8_t *impacts,
                         Py_ssize_t count, int32_t weight)
{
    Py_ssize_t place = 0;
    for (; place + 4 <= count; place += 4) { /* a term names a document once: no two are one */
        totals[documents[place]] += weight * impacts[place];
        totals[documents[place + 1]] += weight * impacts[place + 1];
        totals[documents[place + 2]] += weight * impacts[place + 2];
        totals[documents[place + 3]] += weight * impacts[place + 3];
    }
    for (; place < count; place++) {
        totals[documents[place]] += weight * impacts[place];
    }
}

PyDoc_STRVAR(best_doc,
"best(documents, impacts, spans, count, dead, limit, slack) -> [(sum, document)]\n\n"
"Sum weight * impact over the postings of each (first, last, weight) in spans.");

static PyObject *best(PyObject *self, PyObject *arguments)
{
    PyObject *documents_in, *impacts_in, *spans, *dead, *found = NULL;
    Py_ssize_t count, limit, slack;
    Py_buffer documents, impacts;
    if (!PyArg_ParseTuple(arguments, "OOO!nO!nn", &documents_in, &impacts_in, &PyList_Type, &spans,
                          &count, &PyList_Type, &dead, &limit, &slack)) {
        return NULL;
    }
    if (slack < 0) {
        PyErr_SetString(PyExc_ValueError, "slack below 0");
        return NULL;
    }
    if (count < 0 || count > MOST_DOCUMENTS) {
        PyErr_SetString(PyExc_ValueError, "too many documents");
        return NULL;
    }
    if (view_of(documents_in, &documents, 2, PyBUF_ND) < 0) {
        return NULL;
    }
    if (view_of(impacts_in, &impacts, 1, PyBUF_ND) < 0) {
        PyBuffer_Release(&documents);
        return NULL;
    }
    /* As long as any document number can reach, so that no posting can lead out of it. One for
     * all calls: the interpreter runs one at a time, and a fresh one costs more than its use. */
    static int32_t totals[MOST_DOCUMENTS];
    memset(totals, 0, sizeof(totals));
    Py_ssize_t postings = items_of(&documents);
    if (items_of(&impacts) != postings) {
        PyErr_SetString(PyExc_ValueError, "postings and impacts differ in number");
        goto done;
    }
    Py_ssize_t terms = PyList_Size(spans);
    for (Py_ssize_t number = 0; number < terms; number++) {
        Py_ssize_t first, last;
        int weight;
        if (!PyArg_ParseTuple(PyList_GetItem(spans, number), "nni", &first, &last, &weight)) {
            goto done;
        }
        if (first < 0 || first > last || last > postings || weight < 0 || weight > 1023) {
            PyErr_SetString(PyExc_ValueError, "a span lies outside the postings");
            goto done;
        }
        if (number >= 256) {
            PyErr_SetString(PyExc_ValueError, "too many terms");
            goto done;
        }
        add_postings(totals, (const uint16_t *)documents.buf + first,
                     (const uint8_t *)impacts.buf + first, last - first, weight);
    }
    int32_t beyond = 0;
    for (Py_ssize_t place = count; place < MOST_DOCUMENTS; place++) {
        beyond |= totals[place];
    }
    if (beyond) {
        PyErr_SetString(PyExc_ValueError, "a posting names no document");
        goto done;
    }
    if (silence(totals, count, dead) == 0) {
        found = top(totals, count, limit, slack);
    }
done:
    PyBuffer_Release(&impacts);
    PyBuffer_Release(&documents);
    return found;
}

PyDoc_STRVAR(exact_doc,
"exact(starts, terms, impacts, asked, weights, numbers) -> [score]\n\n"
"Add weight * impact over the asked terms, one by one, for each document in numbers.");

static PyObject *exact(PyObject *self, PyObject *arguments)
{
    PyObject *starts_in, *terms_in, *impacts_in, *asked, *weights, *numbers, *found = NULL;
    Py_buffer starts, terms, impacts;
    if (!PyArg_ParseTuple(arguments, "OOOO!O!O!", &starts_in, &terms_in, &impacts_in,
                          &PyList_Type, &asked, &PyList_Type, &weights, &PyList_Type, &numbers)) {
        return NULL;
    }
    if (view_of(starts_in, &starts, 4, PyBUF_ND) < 0) {
        return NULL;
    }
    if (view_of(terms_in, &terms, 4, PyBUF_ND) < 0) {
        goto release_starts;
    }
    if (view_of(impacts_in, &impacts, 4, PyBUF_ND) < 0) {
        goto release_terms;
    }
    Py_ssize_t count = PyList_Size(asked), held = items_of(&terms);
    long long *wanted = malloc((size_t)(count + 1) * sizeof(long long));
    double *worth = malloc((size_t)(count + 1) * sizeof(double));
    if (wanted == NULL || worth == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if (PyList_Size(weights) != count || items_of(&impacts) != held) {
        PyErr_SetString(PyExc_ValueError, "lists differ in length");
        goto done;
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        worth[place] = PyFloat_AsDouble(PyList_GetItem(weights, place));
        if ((worth[place] == -1.0 && PyErr_Occurred()) || whole_at(asked, place, &wanted[place]) < 0) {
            goto done;
        }
    }
    Py_ssize_t documents = PyList_Size(numbers);
    const uint32_t *listed = terms.buf;
    const float *impact = impacts.buf;
    found = PyList_New(documents);
    for (Py_ssize_t place = 0; found != NULL && place < documents; place++) {
        long long number;
        if (whole_at(numbers, place, &number) < 0) {
            Py_CLEAR(found);
            break;
        }
        if (number < 0 || number + 1 >= items_of(&starts)) {
            PyErr_SetString(PyExc_ValueError, "no such document");
            Py_CLEAR(found);
            break;
        }
        Py_ssize_t first = ((const uint32_t *)starts.buf)[number];
        Py_ssize_t last = ((const uint32_t *)starts.buf)[number + 1];
        if (first > last || last > held) {
            PyErr_SetString(PyExc_ValueError, "a forward list lies outside its section");
            Py_CLEAR(found);
            break;
        }
        double total = 0.0;
        for (Py_ssize_t term = 0; term < count; term++) {
            Py_ssize_t low = first, high = last;
            while (low < high) {
                Py_ssize_t middle = low + (high - low) / 2;
                if ((long long)listed[middle] < wanted[term]) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            double each = 0.0;
            if (low < last && (long long)listed[low] == wanted[term]) {
                each = impact[low];
            }
            total += worth[term] * each;
        }
        PyObject *score = PyFloat_FromDouble(total);
        if (score == NULL || PyList_SetItem(found, place, score) < 0) {
            Py_CLEAR(found);
        }
    }
done:
    free(wanted);
    free(worth);
    PyBuffer_Release(&impacts);
release_terms:
    PyBuffer_Release(&terms);
release_starts:
    PyBuffer_Release(&starts);
    return found;
}

/* ---- vectors ---------------------------------------------------------------------------- */

#if HAVE_AVX2
__attribute__((target("avx2")))
static void dot_each_avx2(const int8_t *rows, Py_ssize_t count, Py_ssize_t dimensions,
                          const int16_t *query, int32_t *dots)
{
    for (Py_ssize_t row = 0; row < count; row++) {
        const int8_t *vector = rows + row * dimensions;
        __m256i one = _mm256_setzero_si256(), two = _mm256_setzero_si256();
        Py_ssize_t place = 0;
        for (; place + 32 <= dimensions; place += 32) {
            __m256i low = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(vector + place)));
            __m256i high =
                _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(vector + place + 16)));
            __m256i asked = _mm256_loadu_si256((const __m256i *)(query + place));
            __m256i also = _mm256_loadu_si256((const __m256i *)(query + place + 16));
            one = _mm256_add_epi32(one, _mm256_madd_epi16(low, asked));
            two = _mm256_add_epi32(two, _mm256_madd_epi16(high, also));
        }
        int32_t lanes[8], total = 0;
        _mm256_storeu_si256((__m256i *)lanes, _mm256_add_epi32(one, two));
        for (int lane = 0; lane < 8; lane++) {
            total += lanes[lane];
        }
        for (; place < dimensions; place++) {
            total += (int32_t)vector[place] * query[place];
        }
        dots[row] = total;
    }
}
#endif

static void dot_each(const int8_t *rows, Py_ssize_t count, Py_ssize_t dimensions,
                     const int16_t *query, int32_t *dots)
{
#if HAVE_AVX2
    if (__builtin_cpu_supports("avx2")) {
        dot_each_avx2(rows, count, dimensions, query, dots);
        return;
    }
#endif
    for (Py_ssize_t row = 0; row < count; row++) {
        const int8_t *vector = rows + row * dimensions;
        int32_t total = 0;
        for (Py_ssize_t place = 0; place < dimensions; place++) {
            total += (int32_t)((int16_t)vector[place]) * query[place];
        }
        dots[row] = total;
    }
}

/* The query's bytes widened, in memory of its own. */
static int16_t *widened(const Py_buffer *query)
{
    int16_t *wide = malloc((size_t)(query->len + 1) * sizeof(int16_t));
    if (wide == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t place = 0; place < query->len; place++) {
        wide[place] = ((const int8_t *)query->buf)[place];
    }
    return wide;
}

PyDoc_STRVAR(nearest_doc,
"nearest(vectors, dimensions, query, out, limit) -> [(dot, document)]\n\n"
"Dot products of all vectors with the query; the documents in out have 0.");

static PyObject *nearest(PyObject *self, PyObject *arguments)
{
    PyObject *vectors_in, *query_in, *out, *found = NULL;
    Py_ssize_t dimensions, limit;
    Py_buffer vectors, query;
    if (!PyArg_ParseTuple(arguments, "OnOO!n", &vectors_in, &dimensions, &query_in, &PyList_Type,
                          &out, &limit)) {
        return NULL;
    }
    if (view_of(vectors_in, &vectors, 1, PyBUF_ND) < 0) {
        return NULL;
    }
    if (view_of(query_in, &query, 1, PyBUF_ND) < 0) {
        PyBuffer_Release(&vectors);
        return NULL;
    }
    int32_t *dots = NULL;
    int16_t *wide = NULL;
    if (dimensions <= 0 || dimensions > 4096 || query.len != dimensions ||
        vectors.len % dimensions) {
        PyErr_SetString(PyExc_ValueError, "vectors and query differ in their dimensions");
        goto done;
    }
    Py_ssize_t count = vectors.len / dimensions;
    dots = malloc((size_t)(count + 1) * sizeof(int32_t));
    wide = widened(&query);
    if (dots == NULL || wide == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    dot_each(vectors.buf, count, dimensions, wide, dots);
    if (silence(dots, count, out) == 0) {
        found = top(dots, count, limit, 0);
    }
done:
    free(dots);
    free(wide);
    PyBuffer_Release(&query);
    PyBuffer_Release(&vectors);
    return found;
}

PyDoc_STRVAR(dots_doc,
"dots(vectors, dimensions, query, numbers) -> [dot]\n\n"
"Dot products of the documents in numbers.");

static PyObject *dots(PyObject *self, PyObject *arguments)
{
    PyObject *vectors_in, *query_in, *numbers, *found = NULL;
    Py_ssize_t dimensions;
    Py_buffer vectors, query;
    if (!PyArg_ParseTuple(arguments, "OnOO!", &vectors_in, &dimensions, &query_in, &PyList_Type,
                          &numbers)) {
        return NULL;
    }
    if (view_of(vectors_in, &vectors, 1, PyBUF_ND) < 0) {
        return NULL;
    }
    if (view_of(query_in, &query, 1, PyBUF_ND) < 0) {
        PyBuffer_Release(&vectors);
        return NULL;
    }
    int16_t *wide = NULL;
    if (dimensions <= 0 || dimensions > 4096 || query.len != dimensions ||
        vectors.len % dimensions) {
        PyErr_SetString(PyExc_ValueError, "vectors and query differ in their dimensions");
        goto done;
    }
    wide = widened(&query);
    if (wide == NULL) {
        goto done;
    }
    Py_ssize_t listed = PyList_Size(numbers);
    found = PyList_New(listed);
    for (Py_ssize_t place = 0; found != NULL && place < listed; place++) {
        long long number;
        int32_t dot = 0;
        if (whole_at(numbers, place, &number) < 0) {
            Py_CLEAR(found);
            break;
        }
        if (number < 0 || number >= vectors.len / dimensions) {
            PyErr_SetString(PyExc_ValueError, "no such document");
            Py_CLEAR(found);
            break;
        }
        dot_each((const int8_t *)vectors.buf + number * dimensions, 1, dimensions, wide, &dot);
        PyObject *value = PyLong_FromLong(dot);
        if (value == NULL || PyList_SetItem(found, place, value) < 0) {
            Py_CLEAR(found);
        }
    }
done:
    free(wide);
    PyBuffer_Release(&query);
    PyBuffer_Release(&vectors);
    return found;
}

/* Sum weight * row of one field into sums, shifted; 0 for no row, -1 with an error set. */
static int sum_rows(const Py_buffer *rows, Py_ssize_t dimensions, PyObject *numbers,
                    PyObject *weights, int64_t *sums)
{
    Py_ssize_t count = PyList_Size(numbers), most = rows->len / dimensions;
    if (count != PyList_Size(weights) || count > 100000) {
        PyErr_SetString(PyExc_ValueError, "rows and weights differ in number");
        return -1;
    }
    memset(sums, 0, (size_t)dimensions * sizeof(int64_t));
    for (Py_ssize_t place = 0; place < count; place++) {
        long long number, weight;
        if (whole_at(numbers, place, &number) < 0 || whole_at(weights, place, &weight) < 0) {
            return -1;
        }
        if (number < 0 || number >= most || weight < 0 || weight > (1 << 24)) {
            PyErr_SetString(PyExc_ValueError, "no such row");
            return -1;
        }
        const int8_t *row = (const int8_t *)rows->buf + number * dimensions;
        for (Py_ssize_t dimension = 0; dimension < dimensions; dimension++) {
            sums[dimension] += weight * row[dimension];
        }
    }
    return count > 0;
}

PyDoc_STRVAR(direction_doc,
"direction(rows, dimensions, fields, shift, fine, unit) -> bytes\n\n"
"The unit vector of (weight, [row], [row's weight]) fields; see Table.vector.");

static PyObject *direction(PyObject *self, PyObject *arguments)
{
    PyObject *rows_in, *fields, *found = NULL;
    Py_ssize_t dimensions;
    int shift;
    double fine, unit;
    Py_buffer rows;
    if (!PyArg_ParseTuple(arguments, "OnO!idd", &rows_in, &dimensions, &PyList_Type, &fields,
                          &shift, &fine, &unit)) {
        return NULL;
    }
    if (view_of(rows_in, &rows, 1, PyBUF_ND) < 0) {
        return NULL;
    }
    if (dimensions <= 0 || dimensions > 4096 || shift < 0 || shift > 16) {
        PyErr_SetString(PyExc_ValueError, "dimensions or shift out of range");
        PyBuffer_Release(&rows);
        return NULL;
    }
    int64_t *sums = malloc((size_t)dimensions * sizeof(int64_t));
    double *mixed = calloc((size_t)dimensions, sizeof(double));
    int8_t *bytes = malloc((size_t)dimensions);
    if (sums == NULL || mixed == NULL || bytes == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    Py_ssize_t count = PyList_Size(fields);
    for (Py_ssize_t field = 0; field < count; field++) {
        PyObject *numbers, *weights;
        double weight;
        if (!PyArg_ParseTuple(PyList_GetItem(fields, field), "dO!O!", &weight, &PyList_Type,
                              &numbers, &PyList_Type, &weights)) {
            goto done;
        }
        int any = sum_rows(&rows, dimensions, numbers, weights, sums);
        if (any < 0) {
            goto done;
        }
        int64_t squares = 0;
        for (Py_ssize_t place = 0; place < dimensions; place++) {
            sums[place] >>= shift; /* downwards, as Python shifts */
            squares += sums[place] * sums[place];
        }
        if (any && squares) {
            double scale = weight / sqrt((double)squares);
            for (Py_ssize_t place = 0; place < dimensions; place++) {
                mixed[place] = mixed[place] + scale * (double)sums[place];
            }
        }
    }
    int64_t squares = 0;
    for (Py_ssize_t place = 0; place < dimensions; place++) {
        sums[place] = (int64_t)rint(mixed[place] * fine);
        squares += sums[place] * sums[place];
    }
    if (!squares) {
        found = PyBytes_FromStringAndSize("", 0);
        goto done;
    }
    double scale = unit / sqrt((double)squares);
    for (Py_ssize_t place = 0; place < dimensions; place++) {
        double value = rint((double)sums[place] * scale);
        bytes[place] = (int8_t)(value > 127.0 ? 127.0 : value < -127.0 ? -127.0 : value);
    }
    found = PyBytes_FromStringAndSize((const char *)bytes, dimensions);
done:
    free(sums);
    free(mixed);
    free(bytes);
    PyBuffer_Release(&rows);
    return found;
}

/* ---- building --------------------------------------------------------------------------- */

typedef struct {
    uint32_t term;
    float impact;
} Posting;

static int by_term(const void *one, const void *other)
{
    uint32_t left = ((const Posting *)one)->term, right = ((const Posting *)other)->term;
    return (left > right) - (left < right);
}

PyDoc_STRVAR(arrange_doc,
"arrange(starts, terms, impacts, renumbered)\n\n"
"Give every forward list its final term numbers, ascending, in place.");

static PyObject *arrange(PyObject *self, PyObject *arguments)
{
    PyObject *starts_in, *terms_in, *impacts_in, *renumbered_in;
    Py_buffer starts, terms, impacts, renumbered;
    int fine = 0;
    if (!PyArg_ParseTuple(arguments, "OOOO", &starts_in, &terms_in, &impacts_in, &renumbered_in)) {
        return NULL;
    }
    if (view_of(starts_in, &starts, 4, PyBUF_ND) < 0) {
        return NULL;
    }
    if (view_of(terms_in, &terms, 4, PyBUF_ND | PyBUF_WRITABLE) < 0) {
        goto release_starts;
    }
    if (view_of(impacts_in, &impacts, 4, PyBUF_ND | PyBUF_WRITABLE) < 0) {
        goto release_terms;
    }
    if (view_of(renumbered_in, &renumbered, 4, PyBUF_ND) < 0) {
        goto release_impacts;
    }
    Py_ssize_t held = items_of(&terms), known = items_of(&renumbered), longest = 0;
    const uint32_t *from = starts.buf, *numbers = renumbered.buf;
    uint32_t *listed = terms.buf;
    float *impact = impacts.buf;
    Posting *list = NULL;
    if (items_of(&impacts) != held) {
        PyErr_SetString(PyExc_ValueError, "terms and impacts differ in number");
        goto done;
    }
    for (Py_ssize_t place = 0; place < held; place++) {
        if (listed[place] >= (size_t)known) {
            PyErr_SetString(PyExc_ValueError, "no such term");
            goto done;
        }
    }
    for (Py_ssize_t number = 0; number + 1 < items_of(&starts); number++) {
        if (from[number] > from[number + 1] || from[number + 1] > (size_t)held) {
            PyErr_SetString(PyExc_ValueError, "a forward list lies outside its section");
            goto done;
        }
        Py_ssize_t length = from[number + 1] - from[number];
        longest = length > longest ? length : longest;
    }
    list = malloc((size_t)(longest + 1) * sizeof(Posting));
    if (list == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t number = 0; number + 1 < items_of(&starts); number++) {
        Py_ssize_t first = from[number], length = from[number + 1] - from[number];
        for (Py_ssize_t place = 0; place < length; place++) {
            list[place].term = numbers[listed[first + place]];
            list[place].impact = impact[first + place];
        }
        qsort(list, (size_t)length, sizeof(Posting), by_term); /* a term stands once in a list */
        for (Py_ssize_t place = 0; place < length; place++) {
            listed[first + place] = list[place].term;
            impact[first + place] = list[place].impact;
        }
    }
    fine = 1;
done:
    free(list);
    PyBuffer_Release(&renumbered);
release_impacts:
    PyBuffer_Release(&impacts);
release_terms:
    PyBuffer_Release(&terms);
release_starts:
    PyBuffer_Release(&starts);
    if (!fine) {
        return NULL;
    }
    Py_INCREF(Py_None);
    return Py_None;
}

PyDoc_STRVAR(invert_doc,
"invert(starts, terms, impacts, excluded, count) -> (bytes, bytes, bytes)\n\n"
"Posting starts, documents and impact bytes: the forward lists the other way round.");

static PyObject *invert(PyObject *self, PyObject *arguments)
{
    PyObject *starts_in, *terms_in, *impacts_in, *excluded_in, *found = NULL;
    PyObject *places_out = NULL, *documents_out = NULL, *impacts_out = NULL;
    Py_ssize_t count;
    Py_buffer starts, terms, impacts, excluded;
    if (!PyArg_ParseTuple(arguments, "OOOOn", &starts_in, &terms_in, &impacts_in, &excluded_in,
                          &count)) {
        return NULL;
    }
    if (view_of(starts_in, &starts, 4, PyBUF_ND) < 0) {
        return NULL;
    }
    if (view_of(terms_in, &terms, 4, PyBUF_ND) < 0) {
        goto release_starts;
    }
    if (view_of(impacts_in, &impacts, 4, PyBUF_ND) < 0) {
        goto release_terms;
    }
    if (view_of(excluded_in, &excluded, 1, PyBUF_ND) < 0) {
        goto release_impacts;
    }
    Py_ssize_t documents = items_of(&starts) - 1, held = items_of(&terms);
    const uint32_t *from = starts.buf, *listed = terms.buf;
    const float *impact = impacts.buf;
    const uint8_t *out = excluded.buf;
    uint32_t *next = NULL;
    if (documents < 0 || documents > MOST_DOCUMENTS || excluded.len != documents ||
        items_of(&impacts) != held || count < 0 || count > 0x7fffffff) {
        PyErr_SetString(PyExc_ValueError, "the lists do not fit each other");
        goto done;
    }
    next = calloc((size_t)count + 1, sizeof(uint32_t));
    if (next == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t number = 0; number < documents; number++) {
        if (from[number] > from[number + 1] || from[number + 1] > (size_t)held) {
            PyErr_SetString(PyExc_ValueError, "a forward list lies outside its section");
            goto done;
        }
        for (Py_ssize_t place = from[number]; place < (Py_ssize_t)from[number + 1]; place++) {
            if (listed[place] >= (size_t)count) {
                PyErr_SetString(PyExc_ValueError, "no such term");
                goto done;
            }
            next[listed[place] + 1] += !out[number];
        }
    }
    for (Py_ssize_t term = 0; term < count; term++) {
        next[term + 1] += next[term];
    }
    Py_ssize_t postings = next[count];
    places_out = PyBytes_FromStringAndSize((const char *)next, (count + 1) * 4);
    documents_out = PyBytes_FromStringAndSize(NULL, postings * 2);
    impacts_out = PyBytes_FromStringAndSize(NULL, postings);
    if (places_out == NULL || documents_out == NULL || impacts_out == NULL) {
        goto done;
    }
    char *document = PyBytes_AsString(documents_out), *byte = PyBytes_AsString(impacts_out);
    for (Py_ssize_t number = 0; number < documents; number++) {
        if (out[number]) {
            continue;
        }
        for (Py_ssize_t place = from[number]; place < (Py_ssize_t)from[number + 1]; place++) {
            uint32_t at = next[listed[place]]++;
            uint16_t short_number = (uint16_t)number;
            double value = rint(255.0 * (double)impact[place]);
            memcpy(document + 2 * (size_t)at, &short_number, 2);
            byte[at] = (char)(uint8_t)(value < 1.0 ? 1.0 : value > 255.0 ? 255.0 : value);
        }
    }
    found = Py_BuildValue("(OOO)", places_out, documents_out, impacts_out);
done:
    Py_XDECREF(places_out);
    Py_XDECREF(documents_out);
    Py_XDECREF(impacts_out);
    free(next);
    PyBuffer_Release(&excluded);
release_impacts:
    PyBuffer_Release(&impacts);
release_terms:
    PyBuffer_Release(&terms);
release_starts:
    PyBuffer_Release(&starts);
    return found;
}

static PyMethodDef methods[] = {
    {"best", best, METH_VARARGS, best_doc},
    {"exact", exact, METH_VARARGS, exact_doc},
    {"nearest", nearest, METH_VARARGS, nearest_doc},
    {"dots", dots, METH_VARARGS, dots_doc},
    {"direction", direction, METH_VARARGS, direction_doc},
    {"arrange", arrange, METH_VARARGS, arrange_doc},
    {"invert", invert, METH_VARARGS, invert_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_kernel", "The inner loops of an index.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void)
{
    return PyModule_Create(&module);
}
