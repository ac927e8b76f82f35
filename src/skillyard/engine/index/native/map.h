/* A map from bytes to numbers that only grows. Entries are numbered as they come. */
#ifndef SKILLYARD_MAP_H
#define SKILLYARD_MAP_H

#include "kernel.h"

#define SHORT_KEY 16

typedef struct {
    uint32_t length;
    uint32_t value;
    union {
        char key[SHORT_KEY];
        size_t start; /* of a longer key, among the bytes */
    } at;
} Entry;

typedef struct {
    uint64_t seed[2]; /* secret, so that nobody can write a text whose words all collide */
    uint64_t *slots;  /* hash of an entry, then its number + 1; 0 is empty */
    size_t mask;
    Entry *entries;
    size_t used, room;
    char *bytes;
    size_t filled, space;
} Map;

void map_start(Map *map, const uint64_t seed[2]);
void map_free(Map *map);
uint32_t map_hash(const Map *map, const char *key, size_t length);
/* The place of a key among the entries, or -1. */
Py_ssize_t map_find(const Map *map, const char *key, size_t length, uint32_t hash);
/* Add a key that is not there. Returns its place, or -1 with an error set. */
Py_ssize_t map_add(Map *map, const char *key, size_t length, uint32_t hash, uint32_t value);
static inline const char *map_key(const Map *map, const Entry *entry)
{
    return entry->length <= SHORT_KEY ? entry->at.key : map->bytes + entry->at.start;
}

/* Ask for what map_find reads: its slot first, and some time later its entry. */
static inline void map_fetch_slot(const Map *map, uint32_t hash)
{
#if defined(__GNUC__)
    if (map->slots != NULL) {
        __builtin_prefetch(&map->slots[hash & map->mask]);
    }
#endif
}

static inline void map_fetch_entry(const Map *map, uint32_t hash)
{
#if defined(__GNUC__)
    uint64_t slot = map->slots == NULL ? 0 : map->slots[hash & map->mask];
    if (slot) {
        __builtin_prefetch(&map->entries[(uint32_t)slot - 1]);
    }
#endif
}

/* Make room for at least `count` items of `size` bytes. Returns -1 with an error set. */
int grow_now(void **items, size_t *room, size_t count, size_t size);
static inline int grow(void **items, size_t *room, size_t count, size_t size)
{
    return count <= *room ? 0 : grow_now(items, room, count, size);
}

#endif
