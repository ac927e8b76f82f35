/* Top-k selection over integers in one pass. */
#include "kernel.h"

static void sift_down(int32_t *heap, Py_ssize_t used)
{
    int32_t value = heap[0];
    Py_ssize_t place = 0;
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

static void sift_up(int32_t *heap, Py_ssize_t place)
{
    int32_t value = heap[place];
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

/* `most` is how many values there will be at most. Returns -1 with an error set. */
int best_start(Best *best, Py_ssize_t limit, int64_t slack, Py_ssize_t most)
{
    memset(best, 0, sizeof(*best));
    best->limit = limit;
    best->slack = slack;
    best->least = 1;
    best->room = limit < most ? limit : 0; /* without a choice to make there is nothing to keep */
    if (best->room > 0) {
        best->heap = malloc((size_t)best->room * sizeof(int32_t));
        if (best->heap == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    return 0;
}

static int room_for_one(Best *best)
{
    if (best->length < best->space) {
        return 0;
    }
    Py_ssize_t space = best->space ? 2 * best->space : 512;
    ScoredOrdinal *list = realloc(best->list, (size_t)space * sizeof(ScoredOrdinal));
    if (list == NULL) {
        return -1;
    }
    best->list = list;
    best->space = space;
    return 0;
}

static int take(Best *best, int32_t value, uint32_t ordinal)
{
    if (room_for_one(best) < 0) {
        return -1;
    }
    best->list[best->length].value = value;
    best->list[best->length++].ordinal = ordinal;
    if (best->room <= 0 || (best->used == best->room && value <= best->heap[0])) {
        return 0;
    }
    if (best->used < best->room) {
        best->heap[best->used] = value;
        sift_up(best->heap, best->used++);
    } else {
        best->heap[0] = value;
        sift_down(best->heap, best->used);
    }
    if (best->used == best->room && best->heap[0] - best->slack > best->least) {
        best->least = (int32_t)(best->heap[0] - best->slack);
    }
    return 0;
}

/* Look at values whose places are ordinals from `base` on. Returns -1 where memory is short; no
 * error is set, for other threads may be running Python meanwhile. */
int best_add(Best *best, const int32_t *values, Py_ssize_t count, uint32_t base)
{
    Py_ssize_t place = 0;
    if (best->limit <= 0) {
        return 0;
    }
    for (; place + 16 <= count; place += 16) { /* most blocks hold nothing of use */
        int32_t any = 0, bar = best->least;
        for (int lane = 0; lane < 16; lane++) {
            any |= values[place + lane] >= bar;
        }
        for (int lane = 0; any && lane < 16; lane++) {
            int32_t value = values[place + lane];
            if (value >= best->least && take(best, value, base + (uint32_t)(place + lane)) < 0) {
                return -1;
            }
        }
    }
    for (; place < count; place++) {
        if (values[place] >= best->least &&
            take(best, values[place], base + (uint32_t)place) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Drop from the list what is of no use any more. */
void best_finish(Best *best)
{
    Py_ssize_t remaining = 0;
    for (Py_ssize_t place = 0; place < best->length; place++) {
        if (best->list[place].value >= best->least) {
            best->list[remaining++] = best->list[place];
        }
    }
    best->length = remaining;
}

void best_free(Best *best)
{
    free(best->heap);
    free(best->list);
}
