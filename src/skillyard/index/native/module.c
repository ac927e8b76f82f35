/* The module skillyard.index._kernel, and what its parts share. */
#include "kernel.h"

int view_of(PyObject *source, Py_buffer *view, Py_ssize_t item, int flags)
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

int whole_at(PyObject *list, Py_ssize_t place, long long *value)
{
    PyObject *item = PyList_GetItem(list, place); /* borrowed */
    if (item == NULL) {
        return -1;
    }
    *value = PyLong_AsLongLong(item);
    return *value == -1 && PyErr_Occurred() ? -1 : 0;
}

static PyMethodDef methods[] = {
    {"direction", direction, METH_VARARGS, direction_doc},
    {"moved", moved, METH_VARARGS, moved_doc},
    {"numbered", numbered, METH_VARARGS, numbered_doc},
    {"singles", singles, METH_O, singles_doc},
    {"ranks", ranks, METH_VARARGS, ranks_doc},
    {"slots", slots, METH_O, slots_doc},
    {"arrange", arrange, METH_VARARGS, arrange_doc},
    {"invert", invert, METH_VARARGS, invert_doc},
    {"crc32", crc32, METH_O, crc32_doc},
    {"wrong_page", wrong_page, METH_VARARGS, wrong_page_doc},
    {"check_forward", check_forward, METH_VARARGS, check_forward_doc},
    {"look_up_name", look_up_name, METH_VARARGS, look_up_name_doc},
    {"highest", highest, METH_O, highest_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_kernel", "The inner loops of an index.", -1, methods,
    NULL, NULL, NULL, NULL,
};

static int add_type(PyObject *made, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    int result = type == NULL ? -1 : PyModule_AddObjectRef(made, name, type);
    Py_XDECREF(type);
    return result;
}

PyMODINIT_FUNC PyInit__kernel(void)
{
    crc_prepare();
    terms_prepare();
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && (add_type(made, "Engine", &engine_spec) < 0 ||
                         add_type(made, "Terms", &terms_spec) < 0)) {
        Py_CLEAR(made);
    }
    return made;
}
