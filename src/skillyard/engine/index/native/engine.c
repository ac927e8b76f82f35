/* The Python type of the engine. */
#include "engine.h"

static Py_buffer *buffer_of(Part *part, int number)
{
    switch (number) {
    case 0: return &part->documents;
    case 1: return &part->impacts;
    case 2: return &part->starts;
    case 3: return &part->terms;
    case 4: return &part->values;
    case 5: return &part->ties;
    case 6: return &part->vectors;
    default: return &part->read;
    }
}

#define BUFFERS 8
static const Py_ssize_t ITEMS[BUFFERS] = {2, 1, 4, 4, 4, 8, 1, 1};

static int numbers_of(PyObject *list, Py_ssize_t count, uint16_t **numbers, Py_ssize_t *length)
{
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "a list of documents is expected");
        return -1;
    }
    *length = PyList_Size(list);
    *numbers = malloc((size_t)(*length + 1) * sizeof(uint16_t));
    if (*numbers == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t place = 0; place < *length; place++) {
        long long number;
        if (whole_at(list, place, &number) < 0) {
            return -1;
        }
        if (number < 0 || number >= count || (place && number <= (*numbers)[place - 1])) {
            PyErr_SetString(PyExc_ValueError, "no such document, or not in ascending order");
            return -1;
        }
        (*numbers)[place] = (uint16_t)number;
    }
    return 0;
}

static int part_open(Part *part, PyObject *given, Py_ssize_t dimensions)
{
    PyObject *sources[BUFFERS], *dead, *silent;
    if (!PyArg_ParseTuple(given, "OOOOOOOOOO", &sources[0], &sources[1], &sources[2], &sources[3],
                          &sources[4], &sources[5], &sources[6], &sources[7], &dead, &silent)) {
        return -1;
    }
    for (; part->held < BUFFERS; part->held++) {
        if (view_of(sources[part->held], buffer_of(part, part->held), ITEMS[part->held],
                    PyBUF_ND) < 0) {
            return -1;
        }
    }
    part->count = items_of(&part->read);
    if (part->count > MAX_DOCUMENTS || items_of(&part->starts) != part->count + 1 ||
        items_of(&part->ties) != part->count ||
        items_of(&part->vectors) != part->count * dimensions ||
        items_of(&part->documents) != items_of(&part->impacts) ||
        items_of(&part->terms) != items_of(&part->values)) {
        PyErr_SetString(PyExc_ValueError, "the sections do not fit each other");
        return -1;
    }
    if (numbers_of(dead, part->count, &part->dead, &part->dead_count) < 0) {
        return -1;
    }
    return numbers_of(silent, part->count, &part->silent, &part->silent_count);
}

static void engine_close(Engine *self)
{
    for (Py_ssize_t number = 0; self->parts != NULL && number < self->count; number++) {
        Part *part = &self->parts[number];
        for (int held = 0; held < part->held; held++) {
            PyBuffer_Release(buffer_of(part, held));
        }
        free(part->dead);
        free(part->silent);
    }
    free(self->parts);
    free(self->totals);
    self->parts = NULL;
    self->totals = NULL;
}

static void engine_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    engine_close((Engine *)object);
    release(object);
    Py_DECREF(type);
}

/* Between these two no Python object may be touched. Returns -1 with an error set. */
int pass_begin(const Engine *self, Pass *pass)
{
    pass->others = NULL;
    pass->totals = self->totals;
    if (self->documents < MANY) {
        return 0;
    }
    pass->totals = malloc(AT_ONCE * sizeof(int32_t));
    if (pass->totals == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    pass->others = PyEval_SaveThread();
    return 0;
}

void pass_end(const Engine *self, Pass *pass)
{
    if (pass->others != NULL) {
        PyEval_RestoreThread(pass->others);
    }
    if (pass->totals != self->totals) {
        free(pass->totals);
    }
}

static PyObject *engine_new(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    PyObject *given;
    Py_ssize_t dimensions;
    if (!PyArg_ParseTuple(arguments, "O!n", &PyList_Type, &given, &dimensions)) {
        return NULL;
    }
    Py_ssize_t count = PyList_Size(given);
    if (dimensions < 0 || dimensions > MAX_DIMENSIONS || count > MAX_PARTS) {
        PyErr_SetString(PyExc_ValueError, "dimensions or segments out of range");
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Engine *self = (Engine *)allocate(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->dimensions = dimensions;
    self->parts = calloc((size_t)count + 1, sizeof(Part));
    self->totals = calloc(AT_ONCE, sizeof(int32_t));
    if (self->parts == NULL || self->totals == NULL) {
        PyErr_NoMemory();
        Py_DECREF(self);
        return NULL;
    }
    for (; self->count < count; self->count++) {
        Part *part = &self->parts[self->count];
        if (part_open(part, PyList_GetItem(given, self->count), dimensions) < 0) {
            self->count++; /* what it holds is given back too */
            Py_DECREF(self);
            return NULL;
        }
        self->documents += part->count;
    }
    return (PyObject *)self;
}

static PyMethodDef engine_methods[] = {
    {"lexical", engine_lexical, METH_VARARGS, lexical_doc},
    {"exact_scores", engine_exact_scores, METH_VARARGS, exact_scores_doc},
    {"impacts", engine_impacts, METH_VARARGS, impacts_doc},
    {"matched_weights", engine_matched_weights, METH_VARARGS, matched_weights_doc},
    {"nearest", engine_nearest, METH_VARARGS, nearest_doc},
    {"dots", engine_dots, METH_VARARGS, dots_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(engine_doc,
"Engine(segments, dimensions)\n\n"
"Each segment: (posting documents, posting impacts, forward starts, forward terms, forward\n"
"impacts, ties, vectors, read, [deleted], [no answers]).");

static PyType_Slot engine_hash_slots[] = {
    {Py_tp_new, engine_new},
    {Py_tp_dealloc, engine_dealloc},
    {Py_tp_methods, engine_methods},
    {Py_tp_doc, (void *)engine_doc},
    {0, NULL},
};

PyType_Spec engine_spec = {
    "skillyard.engine.index._kernel.Engine", sizeof(Engine), 0, Py_TPFLAGS_DEFAULT, engine_hash_slots,
};
