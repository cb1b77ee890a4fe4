/* The C interface of a native policy: one shared library, one function, numbers only.
 * Every struct that crosses it begins with {abi, size}; a reader looks at no byte beyond `size`. All pointers
 * are valid during one call. The library runs in the sandboxed policy host: no files, no sockets, no threads, no
 * processes, and a bounded time for each round. Whatever it answers is advice; the daemon checks it.
 *
 *   const tidepool_policy* tidepool_policy_v2(uint32_t host_abi);
 *
 * returns a description that stays valid for ever, or NULL if it cannot work with this host. docs/policies.md has a
 * worked example, and what to change in a policy of version 1. Within a version fields are only ever added at the end
 * of a struct, so a library that was built with an earlier header of it goes on working.
 */
#ifndef TIDEPOOL_POLICY_H
#define TIDEPOOL_POLICY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEPOOL_POLICY_ABI 2u
#define TIDEPOOL_POLICY_ENTRY "tidepool_policy_v2"

/* What is known of each job: view->job[COLUMN][row]. Times are seconds on the daemon's own time line. A column is only
 * ever added at the end. NAN = not declared, where the comment says so. */
typedef enum tidepool_job_column {
  TIDEPOOL_JOB_ID = 0,
  TIDEPOOL_JOB_SUBMITTED,      /* when */
  TIDEPOOL_JOB_WEIGHT,         /* of its owner; 1 = usual */
  TIDEPOOL_JOB_SIZE,           /* slots that it holds now */
  TIDEPOOL_JOB_NODES,          /* on so many nodes */
  TIDEPOOL_JOB_HELD,           /* seconds for which it has held slots */
  TIDEPOOL_JOB_SLOT_SECONDS,   /* attained service: slots x time held */
  TIDEPOOL_JOB_LARGEST_SEEN,   /* largest size at which a job of its kind was measured; 0 = none */
  TIDEPOOL_JOB_RESIZES,        /* changes of placement after the first */
  TIDEPOOL_JOB_SIZE_WANTED,    /* what its user prefers, in slots as all sizes */
  TIDEPOOL_JOB_SIZE_MIN,       /* below it, it cannot run */
  TIDEPOOL_JOB_SIZE_MAX,       /* above it, it gains nothing */
  TIDEPOOL_JOB_STEPS_LEFT,     /* at the declared batch; NAN = work not declared */
  TIDEPOOL_JOB_USEFUL_LEFT,    /* in the steps of `option_goodput`; NAN = work not declared */
  TIDEPOOL_JOB_MARK,           /* the number that the policy has marked it with; 0 at first */
  TIDEPOOL_JOB_MARKED,         /* when that was */
  TIDEPOOL_JOB_GROW,           /* seconds for which it stands still when it grows */
  TIDEPOOL_JOB_SHRINK,         /* when it shrinks */
  TIDEPOOL_JOB_MOVE,           /* when it moves to other nodes */
  TIDEPOOL_JOB_START,          /* when it starts from nothing */
  TIDEPOOL_JOB_PRIORITY,       /* higher goes first; the weight counts it in */
  TIDEPOOL_JOB_PREEMPTIBLE,    /* 0 = once started it keeps its smallest size, whatever the policy answers */
  TIDEPOOL_JOB_PINNED,         /* the size its user insists on, and gets; 0 = none */
  TIDEPOOL_JOB_RESIZE_BLOCKED, /* 1 = its size cannot change now, whatever the policy answers */
  TIDEPOOL_JOB_DEADLINE,       /* when it should have ended; NAN = no deadline */
  TIDEPOOL_JOB_EXPECTED,       /* useful steps left, as ended jobs of its kind let expect; NAN = none has ended */
  TIDEPOOL_JOB_STEPS_DONE,     /* at the declared batch */
  TIDEPOOL_JOB_TENANT,         /* its tenant: view->tenant_name[...] */
  TIDEPOOL_JOB_PRICE,          /* of the slots that it holds now, for an hour */
  TIDEPOOL_JOB_BOOT, /* seconds for which workers that join it boot, while it goes on; 0 = it restarts instead */
  TIDEPOOL_JOB_COLUMNS
} tidepool_job_column;

/* What changes of a job to sizes of one class have cost: view->cost[COLUMN][row], seconds. The columns of the job are
 * the means over all sizes. */
typedef enum tidepool_cost_column {
  TIDEPOOL_COST_SIZE = 0, /* slots: the row holds from this size to below twice as many */
  TIDEPOOL_COST_GROW,     /* when it grows to such a size; and so on, as TIDEPOOL_JOB_GROW to TIDEPOOL_JOB_START */
  TIDEPOOL_COST_SHRINK,
  TIDEPOOL_COST_MOVE,
  TIDEPOOL_COST_START,
  TIDEPOOL_COST_BOOT, /* as TIDEPOOL_JOB_BOOT */
  TIDEPOOL_COST_COLUMNS
} tidepool_cost_column;

typedef enum tidepool_node_column {
  TIDEPOOL_NODE_ID = 0,
  TIDEPOOL_NODE_SLOTS, /* all of them, free or not */
  TIDEPOOL_NODE_TYPE,  /* of its slots: view->type_name[...]; NAN = not known */
  TIDEPOOL_NODE_PRICE, /* of one slot for an hour; 0 = not known */
  TIDEPOOL_NODE_COLUMNS
} tidepool_node_column;

/* What is known of each tenant where tenants share the pool and the policy has the hook share:
 * view->tenant[COLUMN][row]. Slots of a tenant with others below it are sums. */
typedef enum tidepool_tenant_column {
  TIDEPOOL_TENANT_NAME = 0,  /* view->tenant_name[...] */
  TIDEPOOL_TENANT_PARENT,    /* its row, which stands before; NAN = directly under the pool */
  TIDEPOOL_TENANT_GUARANTEE, /* slots that it can have at any time */
  TIDEPOOL_TENANT_WEIGHT,    /* by the built-in rule its part of the surplus; 0 = only what no other wants */
  TIDEPOOL_TENANT_BORROW,    /* slots that it may have beyond its guarantee; NAN = no limit */
  TIDEPOOL_TENANT_LEND,      /* unused slots of its guarantee that others may have; NAN = all */
  TIDEPOOL_TENANT_WANTED,    /* slots that its jobs could use, as far as that is known */
  TIDEPOOL_TENANT_HELD,      /* slots that its jobs hold */
  TIDEPOOL_TENANT_LOAN,      /* slots that it has held beyond its guarantee of late while others wanted more */
  TIDEPOOL_TENANT_LEAF,      /* 1 = no tenant is below it, and jobs may be its */
  TIDEPOOL_TENANT_COLUMNS
} tidepool_tenant_column;

/* What is known of each pool whose nodes come and go, where the policy has the hook provision:
 * view->pool[COLUMN][row]. Prices are of one slot for an hour. */
typedef enum tidepool_pool_column {
  TIDEPOOL_POOL_NAME = 0,      /* view->pool_name[...] */
  TIDEPOOL_POOL_TYPE,          /* of its nodes' slots: view->type_name[...]; NAN = not told before they join */
  TIDEPOOL_POOL_SLOTS,         /* of a node */
  TIDEPOOL_POOL_PRICE,         /* of a slot */
  TIDEPOOL_POOL_WORTH,         /* of a slot that is fully used, as set */
  TIDEPOOL_POOL_MIN,           /* nodes that it has at least */
  TIDEPOOL_POOL_MAX,           /* and at most */
  TIDEPOOL_POOL_SPOT,          /* 1 = its nodes may be taken away at any time */
  TIDEPOOL_POOL_LEAD,          /* seconds from asking for a node to its joining, as expected */
  TIDEPOOL_POOL_IDLE_AFTER,    /* seconds for which a node holds nothing before it is given back */
  TIDEPOOL_POOL_NODES,         /* there or on their way, without those on their way out */
  TIDEPOOL_POOL_COMING,        /* of these: have not joined yet */
  TIDEPOOL_POOL_LEAVING,       /* on their way out; until they are gone they count against the maximum */
  TIDEPOOL_POOL_IDLE,          /* of TIDEPOOL_POOL_NODES: hold nothing */
  TIDEPOOL_POOL_IDLE_LONGEST,  /* seconds for which one of these has held nothing, at most */
  TIDEPOOL_POOL_BACKOFF,       /* seconds for which it gets no node, because attempts have failed */
  TIDEPOOL_POOL_BACKLOG_JOBS,  /* that wait, may be on its nodes, and fit on no node that is there or coming */
  TIDEPOOL_POOL_BACKLOG_SLOTS, /* that these lack */
  TIDEPOOL_POOL_MORE_WORTH,    /* of each slot of one node more, to the jobs that run */
  TIDEPOOL_POOL_STANDARD,      /* nodes that it would have by the built-in rule */
  TIDEPOOL_POOL_COLUMNS
} tidepool_pool_column;

/* Ends with a 0 byte. */
typedef struct tidepool_name {
  char text[256];
} tidepool_name;

/* One round's facts. The sizes a job may take, and what is expected of each, are its options:
 *   for (k = view->first_option[i]; k < view->first_option[i + 1]; ++k) view->option_size[k] ...
 * and so are the types of slot that it asks for, and those that it holds. */
typedef struct tidepool_view {
  uint32_t abi;
  uint32_t size;
  double now;
  uint32_t jobs; /* rows, by submission */
  uint32_t nodes;
  uint32_t slots; /* of all nodes together */
  uint32_t slots_per_node;
  const double* const* job;  /* TIDEPOOL_JOB_COLUMNS of them */
  const double* const* node; /* TIDEPOOL_NODE_COLUMNS of them */
  const uint32_t* first_option;
  const double* option_size;         /* ascending within a job */
  const double* option_goodput;      /* useful steps a second; 0 = cannot run so */
  const double* option_step_seconds; /* INFINITY = cannot run so */
  uint32_t tenants;                  /* names of them */
  uint32_t types;                    /* of slot: those of the nodes and those that jobs ask for */
  const tidepool_name* tenant_name;  /* by name */
  const tidepool_name* type_name;    /* by name */
  const uint32_t* first_asked;       /* a job that asks for no type may be on any */
  const uint32_t* asked_type;        /* index into type_name */
  const uint32_t* first_held;
  const uint32_t* held_type;   /* index into type_name, each at most once for a job */
  const uint32_t* held_slots;  /* so many of this type */
  uint32_t tenant_rows;        /* each after its parent; 0 = tenants do not share the pool by the tree */
  const double* const* tenant; /* TIDEPOOL_TENANT_COLUMNS of them */
  uint32_t pool_rows;          /* by name; 0 = there are no pools, or the policy has no hook provision */
  const tidepool_name* pool_name;
  const double* const* pool; /* TIDEPOOL_POOL_COLUMNS of them */
  /* Of job i the rows first_cost[i] to first_cost[i + 1] - 1, by size; at a size that none of them holds for, its
   * columns are the best that is known. A library that may run under an earlier host looks at `size` first. */
  const uint32_t* first_cost;
  const double* const* cost; /* TIDEPOOL_COST_COLUMNS of them */
} tidepool_view;

typedef struct tidepool_number {
  const char* name;
  double value;
} tidepool_number;

/* What a hook may call. */
typedef struct tidepool_host {
  uint32_t abi;
  uint32_t size;
  void* context;
  /* Why row `job` gets what it gets: a code of letters and at most 8 numbers. The last one counts. */
  void (*why)(void* context, uint32_t job, const char* code, const tidepool_number* numbers, uint32_t count);
  /* The policy's parameter, or `fallback` if there is none of this name that is a number or a boolean. */
  double (*param)(void* context, const char* name, double fallback);
  /* In [0, 1); the same round draws the same numbers wherever it is computed. */
  double (*random)(void* context);
  /* Why a pool should have the nodes that provision answers; as `why`, of row `pool`. A library that may run under an
   * earlier host looks at `size` before it calls it. */
  void (*why_pool)(void* context, uint32_t pool, const char* code, const tidepool_number* numbers, uint32_t count);
} tidepool_host;

/* Each hook returns 0, or another number if it cannot answer. A hook that is NULL is left to the default policy.
 * `answer` has one entry per job, of `share` one per tenant row, of `provision` one per pool row, all unset; each must
 * be set. Where there are no jobs or no slots, but pools, `provision` alone is asked. */
typedef int (*tidepool_hook)(const tidepool_view* view, const tidepool_host* host, double* answer);

typedef struct tidepool_policy {
  uint32_t abi;
  uint32_t size;
  const char* name;
  tidepool_hook admit; /* 1 = the job may run, 0 = it may not */
  tidepool_hook order; /* a rank; the lowest is served first, equal ones by submission */
  tidepool_hook sizes; /* the size it should have; 0 = nothing now */
  tidepool_hook marks; /* the mark it should carry from now on */
  tidepool_hook pool;  /* must be NULL: how many nodes pools should have is what `provision` answers */
  /* Slots that the tenant should have beyond its guarantee; NAN = the built-in rule decides. Asked only where tenants
   * share the pool. policy.yaml must list it under hooks. */
  tidepool_hook share;
  /* Nodes that the pool should have, from its minimum to its maximum; NAN = the built-in rule decides. Asked only where
   * there are pools. policy.yaml must list it under hooks. */
  tidepool_hook provision;
} tidepool_policy;

typedef const tidepool_policy* (*tidepool_policy_entry)(uint32_t host_abi);

#ifdef __cplusplus
}
#endif

#endif
