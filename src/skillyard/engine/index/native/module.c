/* The module skillyard.engine.index._kernel, and shared helpers. */
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
    {"text_vector", text_vector, METH_VARARGS, text_vector_doc},
    {"shift_vector", shift_vector, METH_VARARGS, shift_vector_doc},
    {"number_terms", number_terms, METH_VARARGS, number_terms_doc},
    {"to_float32", to_float32, METH_O, to_float32_doc},
    {"sorted_ranks", sorted_ranks, METH_VARARGS, sorted_ranks_doc},
    {"hash_slots", hash_slots, METH_O, hash_slots_doc},
    {"sort_forward_lists", sort_forward_lists, METH_VARARGS, sort_forward_lists_doc},
    {"invert_forward_lists", invert_forward_lists, METH_VARARGS, invert_forward_lists_doc},
    {"crc32", crc32, METH_O, crc32_doc},
    {"find_damaged_page", find_damaged_page, METH_VARARGS, find_damaged_page_doc},
    {"check_forward_lists", check_forward_lists, METH_VARARGS, check_forward_lists_doc},
    {"look_up_name", look_up_name, METH_VARARGS, look_up_name_doc},
    {"largest_u16", largest_u16, METH_O, largest_u16_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_kernel", "The inner loops of an index.", -1, methods,
    NULL, NULL, NULL, NULL,
};

static int add_type(PyObject *module_object, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    int result = type == NULL ? -1 : PyModule_AddObjectRef(module_object, name, type);
    Py_XDECREF(type);
    return result;
}

PyMODINIT_FUNC PyInit__kernel(void)
{
    crc_prepare();
    terms_prepare();
    PyObject *module_object = PyModule_Create(&module);
    if (module_object != NULL && (add_type(module_object, "Engine", &engine_spec) < 0 ||
                         add_type(module_object, "Terms", &terms_spec) < 0)) {
        Py_CLEAR(module_object);
    }
    return module_object;
}
