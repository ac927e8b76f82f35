/* Builds forward lists of documents, and inverts them to postings. */
#include "kernel.h"

#include <math.h>

/* Terms are spread over memory, so each is prefetched this many items ahead. */
#define AHEAD 12

static inline void fetch(PyObject *items, Py_ssize_t place, Py_ssize_t count)
{
#if defined(__GNUC__)
    if (place + AHEAD < count) {
        __builtin_prefetch(PyTuple_GetItem(items, place + AHEAD));
    }
#endif
}

const char number_terms_doc[] = PyDoc_STR(
"number_terms(numbers, terms) -> bytes\n\n"
"Give the number of each term as 32 bits; a term without one gets the next.");

PyObject *number_terms(PyObject *self, PyObject *arguments)
{
    PyObject *numbers, *terms;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyDict_Type, &numbers, &PyTuple_Type, &terms)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_Size(terms);
    PyObject **objects = malloc((count + 1) * sizeof *objects);
    PyObject *buffer = PyBytes_FromStringAndSize(NULL, 4 * count);
    if (objects == NULL || buffer == NULL) {
        if (objects == NULL) {
            PyErr_NoMemory();
        }
        goto failed;
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject *term = PyTuple_GetItem(terms, place);
        fetch(terms, place, count);
        if (!PyUnicode_CheckExact(term)) { /* of a kind of its own, it could run code here */
            PyErr_SetString(PyExc_TypeError, "a term is no str");
            goto failed;
        }
        PyObject *number = PyDict_GetItemWithError(numbers, term);
        if (number == NULL) {
            if (PyErr_Occurred()) {
                goto failed;
            }
            number = PyLong_FromSsize_t(PyDict_Size(numbers));
            if (number == NULL || PyDict_SetItem(numbers, term, number) < 0) {
                Py_XDECREF(number);
                goto failed;
            }
            Py_DECREF(number); /* the dict has it */
        }
#if defined(__GNUC__)
        __builtin_prefetch(number);
#endif
        objects[place] = number;
    }
    char *into = PyBytes_AsString(buffer);
    for (Py_ssize_t place = 0; place < count; place++) {
        unsigned long number = PyLong_AsUnsignedLong(objects[place]);
        if (number > UINT32_MAX) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_OverflowError, "too many terms");
            }
            goto failed;
        }
        uint32_t stored = (uint32_t)number;
        memcpy(into + 4 * place, &stored, 4);
    }
    free(objects);
    return buffer;
failed:
    free(objects);
    Py_XDECREF(buffer);
    return NULL;
}

const char to_float32_doc[] = PyDoc_STR(
"to_float32(numbers) -> bytes\n\nGive the numbers of a tuple as floats of 32 bits.");

PyObject *to_float32(PyObject *self, PyObject *numbers)
{
    if (!PyTuple_Check(numbers)) {
        PyErr_SetString(PyExc_TypeError, "a tuple of numbers is needed");
        return NULL;
    }
    Py_ssize_t count = PyTuple_Size(numbers);
    PyObject *buffer = PyBytes_FromStringAndSize(NULL, 4 * count);
    if (buffer == NULL) {
        return NULL;
    }
    char *into = PyBytes_AsString(buffer);
    for (Py_ssize_t place = 0; place < count; place++) {
        fetch(numbers, place, count);
        double number = PyFloat_AsDouble(PyTuple_GetItem(numbers, place));
        if (number == -1.0 && PyErr_Occurred()) {
            Py_DECREF(buffer);
            return NULL;
        }
        float stored = (float)number;
        memcpy(into + 4 * place, &stored, 4);
    }
    return buffer;
}

const char sorted_ranks_doc[] = PyDoc_STR(
"sorted_ranks(numbers, names) -> bytes\n\n"
"Give the place of each name in the list, by its number, as 32 bits.");

PyObject *sorted_ranks(PyObject *self, PyObject *arguments)
{
    PyObject *numbers, *names;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyDict_Type, &numbers, &PyList_Type, &names)) {
        return NULL;
    }
    Py_ssize_t count = PyList_Size(names);
    PyObject *buffer = PyBytes_FromStringAndSize(NULL, 4 * count);
    if (buffer == NULL || count >= UINT32_MAX) {
        Py_XDECREF(buffer);
        return buffer == NULL ? NULL : PyErr_NoMemory();
    }
    char *into = PyBytes_AsString(buffer);
    memset(into, 0, 4 * (size_t)count);
    for (Py_ssize_t place = 0; place < count; place++) {
        PyObject *name = PyList_GetItem(names, place);
        PyObject *number = NULL;
        if (name != NULL && PyUnicode_CheckExact(name)) {
            number = PyDict_GetItemWithError(numbers, name);
        }
        size_t at = number == NULL ? SIZE_MAX : PyLong_AsSize_t(number);
        if (at >= (size_t)count) {
            if (!PyErr_Occurred()) {
                PyErr_SetString(PyExc_ValueError, "the names are not those that were numbered");
            }
            Py_DECREF(buffer);
            return NULL;
        }
        uint32_t rank = (uint32_t)place;
        memcpy(into + 4 * at, &rank, 4);
    }
    return buffer;
}

const char hash_slots_doc[] = PyDoc_STR(
"hash_slots(names) -> bytes\n\nSee skillyard.engine.index.segment_writer.hash_slots.");

PyObject *hash_slots(PyObject *self, PyObject *names)
{
    if (!PyList_Check(names)) {
        PyErr_SetString(PyExc_TypeError, "a list of bytes is needed");
        return NULL;
    }
    Py_ssize_t count = PyList_Size(names);
    if (count >= 1 << 30) {
        PyErr_SetString(PyExc_ValueError, "too many names");
        return NULL;
    }
    size_t size = 8;
    while (size < 2 * (size_t)count) {
        size *= 2;
    }
    PyObject *buffer = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(4 * size));
    if (buffer == NULL) {
        return NULL;
    }
    char *into = PyBytes_AsString(buffer);
    memset(into, 0, 4 * size);
    for (Py_ssize_t number = 1; number <= count; number++) {
        char *bytes;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyList_GetItem(names, number - 1), &bytes, &length) < 0) {
            Py_DECREF(buffer);
            return NULL;
        }
        size_t place = crc_of((const uint8_t *)bytes, (size_t)length) & (size - 1);
        uint32_t held;
        while (memcpy(&held, into + 4 * place, 4), held != 0) {
            place = (place + 1) & (size - 1);
        }
        held = (uint32_t)number;
        memcpy(into + 4 * place, &held, 4);
    }
    return buffer;
}

typedef struct {
    uint32_t term;
    float impact;
} Posting;

static int by_term(const void *one, const void *other)
{
    uint32_t left = ((const Posting *)one)->term, right = ((const Posting *)other)->term;
    return (left > right) - (left < right);
}

const char sort_forward_lists_doc[] = PyDoc_STR(
"sort_forward_lists(starts, terms, impacts, renumbered)\n\n"
"Give every forward list its final term numbers, ascending, in place.");

PyObject *sort_forward_lists(PyObject *self, PyObject *arguments)
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

const char invert_forward_lists_doc[] = PyDoc_STR(
"invert_forward_lists(starts, terms, impacts, excluded, count) -> (bytes, bytes, bytes)\n\n"
"Posting starts, documents and impact bytes: the forward lists the other way round.");

PyObject *invert_forward_lists(PyObject *self, PyObject *arguments)
{
    PyObject *starts_in, *terms_in, *impacts_in, *excluded_in, *inverted = NULL;
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
    if (documents < 0 || documents > MAX_DOCUMENTS || excluded.len != documents ||
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
    inverted = Py_BuildValue("(OOO)", places_out, documents_out, impacts_out);
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
    return inverted;
}
