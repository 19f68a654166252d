/* Allocation and deallocation of Values.

   A graph is often built at once and freed at once. This allocator has two aims: nodes that are created one after the
   other are adjacent in memory, and a graph of any size is freed without recursion. Nodes are therefore allocated in
   chunks, and nodes that wait to be freed form a linked list whose links are stored in the nodes themselves.

   A chunk is filled from start to end. When all of its nodes have been freed, it is filled from the start again, so
   that the nodes of the next graph are adjacent, too. While some of its nodes are alive, new nodes take the place of
   freed ones, the most recently freed first. */
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

/* Nodes are allocated like other objects if there is no GIL, or under a sanitizer, which must see each allocation. */
#if defined(Py_GIL_DISABLED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NODES_IN_CHUNKS 0
#else
#define NODES_IN_CHUNKS 1
#endif
#if !defined(Py_GIL_DISABLED)
#define OF_THREAD
#elif defined(_MSC_VER)
#define OF_THREAD __declspec(thread)
#else
#define OF_THREAD _Thread_local
#endif

/* A ValueNode, with its fields in the order of node.pxd. */
typedef struct Node {
    PyObject_HEAD
    double primal, grad;
    PyObject *a, *b; /* None if the operand is a constant or missing */
    double pa, pb;
    PyObject *details;
    signed char opcode;
    unsigned char level, mark, special;
    int index;
} Node;

static PyTypeObject *node_type; /* Value; instances of subclasses are allocated by Python */

/* Chunks */

#if NODES_IN_CHUNKS

#define CHUNK ((size_t)1 << 16) /* bytes; also the alignment of chunks */
#define FIRST_REGION 16         /* chunks; each new region doubles their number, but has at most LARGEST_REGION */
#define LARGEST_REGION 1024     /* chunks */
#define MOST_SPARE 512          /* an empty region is freed only if at least this many other chunks are empty */

typedef struct Region {
    void *memory;
    size_t chunks, empty;
    char *first;
} Region;

typedef enum { CURRENT, FULL, HOLED, EMPTY } ChunkState;

typedef struct Chunk {
    Node *freed;  /* list of freed nodes, the most recently freed first */
    char *unused; /* start of the memory that has not been used yet */
    char *end;
    Py_ssize_t alive;
    ChunkState state;
    Region *region;
    struct Chunk *next, *previous; /* neighbors in the list of chunks with the same state, HOLED or EMPTY */
} Chunk;

static Chunk no_chunk;
static Chunk *current = &no_chunk; /* new nodes come from this chunk */
static Chunk *chunks_by_state[EMPTY + 1];
static size_t chunk_count, empty_chunks;

static void chunk_enters(Chunk *chunk, ChunkState state) {
    chunk->state = state;
    chunk->previous = NULL;
    chunk->next = chunks_by_state[state];
    if (chunk->next) chunk->next->previous = chunk;
    chunks_by_state[state] = chunk;
}

static void chunk_leaves(Chunk *chunk) {
    if (chunk->previous) chunk->previous->next = chunk->next;
    else chunks_by_state[chunk->state] = chunk->next;
    if (chunk->next) chunk->next->previous = chunk->previous;
}

static void chunk_begins(Chunk *chunk) {
    const size_t header = (sizeof(Chunk) + 63) / 64 * 64;
    chunk->freed = NULL;
    chunk->unused = (char *)chunk + header;
    chunk->end = chunk->unused + (CHUNK - header) / sizeof(Node) * sizeof(Node);
}

static int add_region(void) {
    size_t chunks = chunk_count < FIRST_REGION ? FIRST_REGION : chunk_count;
    if (chunks > LARGEST_REGION) chunks = LARGEST_REGION;
    Region *region = PyMem_RawMalloc(sizeof(Region));
    void *memory = region ? PyMem_RawMalloc((chunks + 1) * CHUNK) : NULL;
    if (!memory) {
        PyMem_RawFree(region);
        PyErr_NoMemory();
        return -1;
    }
    *region = (Region){.memory = memory, .chunks = chunks, .empty = chunks};
    region->first = (char *)(((uintptr_t)memory + CHUNK - 1) / CHUNK * CHUNK);
#if defined(MADV_HUGEPAGE)
    madvise(region->first, chunks * CHUNK, MADV_HUGEPAGE); /* reduces page faults; failure is harmless */
#endif
    for (size_t i = chunks; i-- > 0;) { /* the first chunk is added last, so it is used first */
        Chunk *chunk = (Chunk *)(region->first + i * CHUNK);
        chunk->alive = 0;
        chunk->region = region;
        chunk_begins(chunk);
        chunk_enters(chunk, EMPTY);
    }
    chunk_count += chunks;
    empty_chunks += chunks;
    return 0;
}

static void remove_region(Region *region) {
    for (size_t i = 0; i < region->chunks; i++) chunk_leaves((Chunk *)(region->first + i * CHUNK));
    chunk_count -= region->chunks;
    empty_chunks -= region->chunks;
    PyMem_RawFree(region->memory);
    PyMem_RawFree(region);
}

static Node **link_of(Node *dead) {
    return (Node **)&dead->grad; /* stored where the gradient was, which dead nodes do not need */
}

static Node *node_in_next_chunk(void) {
    if (!chunks_by_state[EMPTY] && !chunks_by_state[HOLED] && add_region() < 0) return NULL;
    current->state = FULL;
    if (chunks_by_state[EMPTY]) {
        current = chunks_by_state[EMPTY];
        empty_chunks--;
        current->region->empty--;
    } else {
        current = chunks_by_state[HOLED];
    }
    chunk_leaves(current);
    current->state = CURRENT;
    Node *node = current->freed;
    if (node) {
        current->freed = *link_of(node);
    } else {
        node = (Node *)current->unused;
        current->unused += sizeof(Node);
    }
    current->alive++;
    return node;
}

static inline Node *take_node(void) {
    Node *node = current->freed;
    if (node) {
        current->freed = *link_of(node);
    } else if (current->unused != current->end) {
        node = (Node *)current->unused;
        current->unused += sizeof(Node);
    } else {
        return node_in_next_chunk();
    }
    current->alive++;
    return node;
}

static void chunk_has_changed(Chunk *chunk) {
    if (chunk->alive) { /* the chunk was full */
        chunk_enters(chunk, HOLED);
        return;
    }
    chunk_begins(chunk);
    if (chunk->state == CURRENT) return;
    if (chunk->state == HOLED) chunk_leaves(chunk);
    chunk_enters(chunk, EMPTY);
    empty_chunks++;
    Region *region = chunk->region;
    if (++region->empty == region->chunks && empty_chunks - region->chunks >= MOST_SPARE) remove_region(region);
}

static inline void free_node(Node *node) {
    Chunk *chunk = (Chunk *)((uintptr_t)node / CHUNK * CHUNK);
    *link_of(node) = chunk->freed;
    chunk->freed = node;
    if (--chunk->alive == 0 || chunk->state == FULL) chunk_has_changed(chunk);
}

static PyObject *allocate_node(PyTypeObject *type, Py_ssize_t items) {
    if (type != node_type) return PyType_GenericAlloc(type, items);
    Node *node = take_node();
    if (!node) return NULL;
    memset(node, 0, sizeof *node);
    return PyObject_Init((PyObject *)node, type);
}

static void free_allocated_node(void *node) { free_node(node); }

static inline Node *new_node(PyTypeObject *type) {
    Node *node = take_node();
    if (!node) return NULL;
#if defined(Py_DEBUG) || defined(Py_TRACE_REFS)
    PyObject_Init((PyObject *)node, type);
#else
    node->ob_base = (PyObject){.ob_type = type}; /* the type is static, so instances do not hold a reference to it */
    node->ob_base.ob_refcnt = 1; /* CPython 3.14 stores flags next to the reference count; the line above clears them */
#endif
    return node;
}

#else

static Node **link_of(Node *dead) { return (Node **)&dead->grad; }

static inline void free_node(Node *node) { PyObject_Free(node); }

static inline Node *new_node(PyTypeObject *type) { return PyObject_New(Node, type); }

#endif

/* Deallocation */

#define DEEPEST 100 /* maximum recursion depth for freeing instances of subclasses and their details */

/* The nodes that a thread is freeing. Freeing a node may run other code, such as the finalizer of a subclass. If that
   code frees further nodes, they are added to the list of the same thread. Each thread has its own list, so that no
   thread waits for a slow finalizer in another thread. */
typedef struct Freeing {
    unsigned long thread;
    Node *dead;     /* nodes that still hold their operands */
    PyObject *late; /* Python list of details nested deeper than DEEPEST, to be freed later; or NULL */
    int depth;
    struct Freeing *other; /* the next entry, which belongs to another thread */
} Freeing;

static OF_THREAD Freeing first_freeing; /* the only entry, unless several threads are freeing nodes */
static OF_THREAD Freeing *freeings;

/* Return the entry of this thread. If the entry is new, also store it in `begun`; the caller must then end it with
   `end_freeing`. Entries are not on the C stack, because extensions such as greenlet may switch stacks in a finalizer.
   */
static Freeing *freeing_of_thread(Freeing **begun) {
    const unsigned long thread = PyThread_get_thread_ident();
    for (Freeing *freeing = freeings; freeing; freeing = freeing->other)
        if (freeing->thread == thread) return freeing;
    Freeing *made = freeings ? PyMem_RawMalloc(sizeof(Freeing)) : &first_freeing;
    if (!made) return freeings; /* out of memory: let another thread free the node */
    *made = (Freeing){.thread = thread, .other = freeings};
    freeings = *begun = made;
    return made;
}

static void end_freeing(Freeing *freeing) {
    Freeing **at = &freeings;
    while (*at != freeing) at = &(*at)->other;
    *at = freeing->other;
    if (freeing != &first_freeing) PyMem_RawFree(freeing);
}

static inline void await_freeing(Freeing *freeing, Node *dead) {
    *link_of(dead) = freeing->dead;
    freeing->dead = dead;
}

/* Drop a reference to an operand. If it is the last reference, add the operand to the list of dead nodes instead of
   freeing it recursively. */
static inline void drop_operand(Freeing *freeing, PyObject *operand) {
#if NODES_IN_CHUNKS
    if (Py_REFCNT(operand) == 1 && Py_TYPE(operand) == node_type) {
        await_freeing(freeing, (Node *)operand);
        return;
    }
#endif
    Py_DECREF(operand);
}

static void drop_details(Freeing *freeing, PyObject *details) {
    if (details != Py_None && freeing->depth >= DEEPEST) {
        if (!freeing->late) freeing->late = PyList_New(0);
        if (!freeing->late || PyList_Append(freeing->late, details) < 0) PyErr_Clear(); /* free them by recursion */
    }
    Py_DECREF(details);
}

static void free_dead_nodes(Freeing *freeing) {
    while (freeing->dead || freeing->late) {
        while (freeing->dead) {
            Node *node = freeing->dead;
            PyObject *a = node->a, *b = node->b, *details = node->details;
            freeing->dead = *link_of(node);
            free_node(node);
            drop_operand(freeing, b);
            drop_operand(freeing, a); /* last, so that `a` is freed next: `a` is often adjacent to the node */
            drop_details(freeing, details);
        }
        PyObject *late = freeing->late;
        freeing->late = NULL;
        Py_XDECREF(late);
    }
}

static void deallocate_node(PyObject *self) {
    Node *node = (Node *)self;
    Freeing *begun = NULL, *freeing = freeing_of_thread(&begun);
    if (Py_TYPE(self) == node_type) {
        await_freeing(freeing, node);
    } else {
        PyObject *a = node->a, *b = node->b, *details = node->details;
        Py_TYPE(self)->tp_free(self);
        freeing->depth++;
        drop_operand(freeing, a);
        drop_operand(freeing, b);
        drop_details(freeing, details);
        freeing->depth--;
    }
    if (!begun) return;
    free_dead_nodes(begun);
    end_freeing(begun);
}

static inline int manage_nodes(PyObject *cls) { /* inline, as not every module that includes this file calls it */
    PyTypeObject *type = (PyTypeObject *)cls;
    if (type->tp_basicsize != sizeof(Node) || (type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        PyErr_SetString(PyExc_SystemError, "node_memory.h does not describe the nodes of node.pxd");
        return -1;
    }
    node_type = type;
    type->tp_dealloc = deallocate_node;
#if NODES_IN_CHUNKS
    type->tp_alloc = allocate_node;
    type->tp_free = free_allocated_node;
#endif
    return 0;
}

static inline PyObject *make_node(
    PyObject *cls, int opcode, int level, PyObject *a, PyObject *b, double primal, double pa, double pb
) {
    Node *node = new_node((PyTypeObject *)cls);
    if (!node) return NULL;
    Py_INCREF(a);
    Py_INCREF(b);
    Py_INCREF(Py_None);
    node->primal = primal;
    node->grad = 0.0;
    node->a = a;
    node->b = b;
    node->pa = pa;
    node->pb = pb;
    node->details = Py_None;
    node->opcode = (signed char)opcode;
    node->level = (unsigned char)level;
    node->mark = 0; /* marks.NEW */
    node->special = 0;
    node->index = 0;
    return (PyObject *)node;
}
