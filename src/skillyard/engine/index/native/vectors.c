/* Dot products with many vectors, and construction of vectors. */
#include "kernel.h"

#include <math.h>

/* On x86-64 the loop is compiled twice; the processor is checked at run time. */
#if defined(__GNUC__) && defined(__x86_64__)
#define HAVE_AVX2 1
#include <immintrin.h>
#else
#define HAVE_AVX2 0
#endif

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
            __m256i query_words = _mm256_loadu_si256((const __m256i *)(query + place));
            __m256i also = _mm256_loadu_si256((const __m256i *)(query + place + 16));
            one = _mm256_add_epi32(one, _mm256_madd_epi16(low, query_words));
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

void dot_each(const int8_t *rows, Py_ssize_t count, Py_ssize_t dimensions,
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
int16_t *widened(const Py_buffer *query)
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

/* Add weight * row. With MAX_ROWS rows and weights up to MAX_WEIGHT, 32 bits hold the sums. */
#if HAVE_AVX2
__attribute__((target("avx2")))
static void add_row_avx2(int32_t *sums, const int8_t *row, int32_t weight, Py_ssize_t dimensions)
{
    for (Py_ssize_t dimension = 0; dimension < dimensions; dimension++) {
        sums[dimension] += weight * row[dimension];
    }
}
#endif

static void add_row(int32_t *sums, const int8_t *row, int32_t weight, Py_ssize_t dimensions)
{
    for (Py_ssize_t dimension = 0; dimension < dimensions; dimension++) {
        sums[dimension] += weight * row[dimension];
    }
}

void sum_rows(const int8_t *rows, Py_ssize_t dimensions, const WeighedRow *listed,
              Py_ssize_t count, int32_t *sums)
{
    void (*add)(int32_t *, const int8_t *, int32_t, Py_ssize_t) = add_row;
#if HAVE_AVX2
    if (__builtin_cpu_supports("avx2")) {
        add = add_row_avx2;
    }
#endif
    memset(sums, 0, (size_t)dimensions * sizeof(int32_t));
    for (Py_ssize_t place = 0; place < count; place++) {
        if (place + 4 < count) {
            fetch_row(rows + listed[place + 4].row * dimensions, dimensions);
        }
        add(sums, rows + listed[place].row * dimensions, listed[place].weight, dimensions);
    }
}

void mix_sums(const int32_t *sums, Py_ssize_t dimensions, int shift, double weight, double *mixed)
{
    int64_t squares = 0;
    for (Py_ssize_t place = 0; place < dimensions; place++) {
        int64_t value = sums[place] >> shift; /* downwards, as Python shifts */
        squares += value * value;
    }
    if (squares) {
        double scale = weight / sqrt((double)squares);
        for (Py_ssize_t place = 0; place < dimensions; place++) {
            mixed[place] = mixed[place] + scale * (double)(sums[place] >> shift);
        }
    }
}

/* Read one field of direction(). Returns the number of its rows, or -1 with an error set. */
static Py_ssize_t rows_listed(PyObject *numbers, PyObject *weights, Py_ssize_t most,
                              WeighedRow *listed)
{
    Py_ssize_t count = PyList_Size(numbers);
    if (count != PyList_Size(weights) || count > MAX_ROWS) {
        PyErr_SetString(PyExc_ValueError, "rows and weights differ in number, or are too many");
        return -1;
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        long long number, weight;
        if (whole_at(numbers, place, &number) < 0 || whole_at(weights, place, &weight) < 0) {
            return -1;
        }
        if (number < 0 || number >= most || weight < 0 || weight > MAX_WEIGHT) {
            PyErr_SetString(PyExc_ValueError, "no such row");
            return -1;
        }
        listed[place].row = (Py_ssize_t)number;
        listed[place].weight = (int32_t)weight;
    }
    return count;
}

/* The unit vector of a direction in signed bytes; no bytes for zeros. See unit_vector in Python. */
PyObject *unit_of(const double *mixed, Py_ssize_t dimensions, double fine, double unit)
{
    int64_t squares = 0;
    for (Py_ssize_t place = 0; place < dimensions; place++) {
        int64_t value = (int64_t)rint(mixed[place] * fine);
        squares += value * value;
    }
    if (!squares) {
        return PyBytes_FromStringAndSize("", 0);
    }
    PyObject *result = PyBytes_FromStringAndSize(NULL, dimensions);
    if (result == NULL) {
        return NULL;
    }
    int8_t *bytes = (int8_t *)PyBytes_AsString(result);
    double scale = unit / sqrt((double)squares);
    for (Py_ssize_t place = 0; place < dimensions; place++) {
        double value = rint(rint(mixed[place] * fine) * scale);
        bytes[place] = (int8_t)(value > 127.0 ? 127.0 : value < -127.0 ? -127.0 : value);
    }
    return result;
}

const char text_vector_doc[] = PyDoc_STR(
"text_vector(rows, dimensions, fields, shift, fine, unit) -> bytes\n\n"
"The unit vector of (weight, [row], [row's weight]) fields; see Table.vector.");

PyObject *text_vector(PyObject *self, PyObject *arguments)
{
    PyObject *rows_in, *fields, *result = NULL;
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
    if (dimensions <= 0 || dimensions > MAX_DIMENSIONS || shift < 0 || shift > 16) {
        PyErr_SetString(PyExc_ValueError, "dimensions or shift out of range");
        PyBuffer_Release(&rows);
        return NULL;
    }
    int32_t *sums = malloc((size_t)dimensions * sizeof(int32_t));
    double *mixed = calloc((size_t)dimensions, sizeof(double));
    WeighedRow *listed = malloc(MAX_ROWS * sizeof(WeighedRow));
    if (sums == NULL || mixed == NULL || listed == NULL) {
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
        Py_ssize_t held = rows_listed(numbers, weights, rows.len / dimensions, listed);
        if (held < 0) {
            goto done;
        }
        sum_rows(rows.buf, dimensions, listed, held, sums);
        mix_sums(sums, dimensions, shift, weight, mixed);
    }
    result = unit_of(mixed, dimensions, fine, unit);
done:
    free(sums);
    free(mixed);
    free(listed);
    PyBuffer_Release(&rows);
    return result;
}

static double length_of(const double *values, Py_ssize_t count)
{
    double squares = 0.0;
    for (Py_ssize_t place = 0; place < count; place++) {
        squares += values[place] * values[place];
    }
    return sqrt(squares);
}

/* Add factor * value for each signed byte of a vector. */
static int add_vector(PyObject *source, double factor, double *sums, Py_ssize_t dimensions)
{
    Py_buffer vector;
    if (view_of(source, &vector, 1, PyBUF_ND) < 0) {
        return -1;
    }
    int fits = vector.len == dimensions;
    for (Py_ssize_t place = 0; fits && place < dimensions; place++) {
        sums[place] = sums[place] + factor * (double)((const int8_t *)vector.buf)[place];
    }
    PyBuffer_Release(&vector);
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "a vector has another size");
        return -1;
    }
    return 0;
}

const char shift_vector_doc[] = PyDoc_STR(
"shift_vector(vector, own_weight, neighbours, weights, neighbour_weight, scale, norm) -> (bytes, length, length) or None\n\n"
"The vector moved towards a weighted sum of its neighbours; see skillyard.engine.index.token_table.shift_vector.");

PyObject *shift_vector(PyObject *self, PyObject *arguments)
{
    PyObject *vector, *vectors, *weights, *bytes = NULL, *result = NULL;
    double own, theirs, fine, unit;
    if (!PyArg_ParseTuple(arguments, "SdO!O!ddd", &vector, &own, &PyList_Type, &vectors,
                          &PyList_Type, &weights, &theirs, &fine, &unit)) {
        return NULL;
    }
    Py_ssize_t dimensions = PyBytes_Size(vector), count = PyList_Size(vectors);
    if (dimensions <= 0 || dimensions > MAX_DIMENSIONS || count != PyList_Size(weights)) {
        PyErr_SetString(PyExc_ValueError, "dimensions out of range, or weights differ in number");
        return NULL;
    }
    double *together = calloc((size_t)dimensions, sizeof(double));
    double *mixed = malloc((size_t)dimensions * sizeof(double));
    if (together == NULL || mixed == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        double weight = PyFloat_AsDouble(PyList_GetItem(weights, place));
        if ((weight == -1.0 && PyErr_Occurred()) ||
            add_vector(PyList_GetItem(vectors, place), weight, together, dimensions) < 0) {
            goto done;
        }
    }
    double length = length_of(together, dimensions), whole = 0.0;
    if (length != 0.0) {
        const int8_t *components = (const int8_t *)PyBytes_AsString(vector);
        for (Py_ssize_t place = 0; place < dimensions; place++) {
            mixed[place] = own * (double)components[place] + theirs / length * together[place];
        }
        whole = length_of(mixed, dimensions);
    }
    if (whole == 0.0) {
        Py_INCREF(Py_None);
        result = Py_None;
        goto done;
    }
    bytes = unit_of(mixed, dimensions, fine, unit);
    if (bytes != NULL) {
        result = Py_BuildValue("(Odd)", bytes, length, whole);
    }
done:
    Py_XDECREF(bytes);
    free(together);
    free(mixed);
    return result;
}
