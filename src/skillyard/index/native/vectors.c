/* Dot products with many vectors, and the making of one. */
#include "kernel.h"

#include <math.h>

/* On x86-64 one binary holds the loop twice; which one runs is asked of the processor. */
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

const char direction_doc[] = PyDoc_STR(
"direction(rows, dimensions, fields, shift, fine, unit) -> bytes\n\n"
"The unit vector of (weight, [row], [row's weight]) fields; see Table.vector.");

PyObject *direction(PyObject *self, PyObject *arguments)
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
    if (dimensions <= 0 || dimensions > MOST_DIMENSIONS || shift < 0 || shift > 16) {
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
