/* libtidepool: elastic data-parallel training from any language. One process is one worker; it keeps
 * training while workers join, leave or die.
 *
 *   tidepool_options options = {sizeof options};
 *   options.samples = 50000; options.global_batch = 512; options.seed = 1; options.steps = 1000;
 *   tidepool_session* job;
 *   if (tidepool_open(&options, &job) != TIDEPOOL_OK) die(tidepool_last_error());
 *   tidepool_register(job, "parameters", parameters, bytes);
 *   float* gradient = tidepool_gradients(job, count);
 *   if (tidepool_join(job) != TIDEPOOL_OK) die(tidepool_last_error());
 *   tidepool_step step = {sizeof step};
 *   tidepool_totals totals = {sizeof totals};
 *   while (tidepool_next_step(job, &step) == TIDEPOOL_STEP) {
 *     double loss_sum = compute(step.samples, step.sample_count, gradient);    // sums, not means
 *     if (tidepool_reduce(job, loss_sum, &totals) == TIDEPOOL_RETRY) continue;  // same samples again
 *     apply(gradient, totals.samples);
 *     tidepool_commit(job);
 *   }
 *   int result = tidepool_close(job);
 *
 * Rules: change registered memory only between TIDEPOOL_COMMIT and tidepool_commit(); make the same calls
 * on all workers of a job; use a session from one thread. If TIDEPOOL_AGENT_SOCKET is not set in the environment,
 * the worker runs alone. Callers set struct_size, so that later versions can add fields at the end.
 * The library sets SIGPIPE to "ignore" if it has its default action. */
#ifndef TIDEPOOL_H
#define TIDEPOOL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TIDEPOOL_API __attribute__((visibility("default")))
#else
#define TIDEPOOL_API
#endif

#define TIDEPOOL_ABI_VERSION 1

/* Results. Negative: an error; tidepool_last_error() returns its text. */
#define TIDEPOOL_OK 0
#define TIDEPOOL_STEP 1     /* next_step: the struct contains a step */
#define TIDEPOOL_FINISHED 2 /* next_step, close: the program's end; a lone worker after it is rank 0 of 1 */
#define TIDEPOOL_LEFT 3     /* next_step, close: the job continues without this worker, as requested; exit with 0 */
#define TIDEPOOL_COMMIT 4   /* reduce: apply the step, then call commit */
#define TIDEPOOL_RETRY 5    /* reduce: a worker died; call next_step again */
#define TIDEPOOL_NOTICE 6   /* notice: the struct contains a notice */
#define TIDEPOOL_INVALID (-1)
#define TIDEPOOL_FAILED (-2)

typedef struct tidepool_session tidepool_session;

/* Input and output of the program's own resize rule. */
typedef struct tidepool_resize {
  size_t struct_size;
  int32_t size;          /* workers of the generation that begins */
  int64_t step;          /* number of committed steps */
  double noise_scale;    /* gradient noise scale in samples; negative: not known yet */
  uint64_t global_batch; /* in: previous value, 0 at the start; out: samples per step from now on */
  double lr_factor;      /* in: previous value; out: factor of the program's learning rate from now on */
} tidepool_resize;

typedef struct tidepool_options {
  size_t struct_size;
  uint64_t samples;      /* in one epoch, > 0 */
  uint64_t global_batch; /* samples per step over all workers, > 0 */
  uint64_t seed;         /* determines the order of the samples */
  int64_t steps;         /* after which the program ends; 0 = until tidepool_finish() */
  /* How the batch and the learning rate follow the number of workers; all 0: they are constant. */
  int32_t on_resize;       /* TIDEPOOL_ON_RESIZE_... */
  int32_t base_size;       /* number of workers for which global_batch is meant; 0 = 1 */
  int32_t warmup_steps;    /* steps over which a larger learning rate is reached; 0 = at once */
  uint64_t per_worker_max; /* samples that a worker computes at once; 0 = no limit */
  /* For TIDEPOOL_ON_RESIZE_CALLBACK: sets the batch. Called in join and next_step when a generation begins, on rank
   * 0; its answer applies to all ranks. It must not call the library. */
  void (*resize_rule)(void* resize_user, tidepool_resize* resize);
  void* resize_user;
  int32_t noise_every; /* measure the gradient noise in every n-th step; 0 = only if the rule needs it */
  /* For a program that ends by tidepool_finish(): samples of all its epochs, which the daemon uses for planning; 0 =
   * not known. If `steps` is not 0, the library reports `steps` instead. */
  uint64_t work_samples;
  uint64_t global_batch_max; /* limit for LINEAR, SQRT, ADASCALE, FIXED_LOCAL; 0 = none (FIXED_LOCAL needs one) */
} tidepool_options;

#define TIDEPOOL_ON_RESIZE_CONSTANT 0
#define TIDEPOOL_ON_RESIZE_LINEAR 1
#define TIDEPOOL_ON_RESIZE_SQRT 2
#define TIDEPOOL_ON_RESIZE_ADASCALE 3
#define TIDEPOOL_ON_RESIZE_CALLBACK 4
#define TIDEPOOL_ON_RESIZE_FIXED_LOCAL 5 /* constant share per worker up to global_batch_max, which is then split */

typedef struct tidepool_step {
  size_t struct_size;
  int64_t number; /* committed steps before this one */
  int64_t epoch;
  const uint64_t* samples; /* this worker's share; valid until the next call of tidepool_next_step() */
  size_t sample_count;     /* may be 0 when there are more workers than samples */
  int32_t rank;
  int32_t size;
  uint32_t generation;
  uint64_t global_batch; /* samples per step at this size */
  double lr_factor;      /* multiplies the learning rate in this step */
  /* Multiplies the old velocity in this step if it is a movement of the parameters, u = m f u + lr g, p = p - u.
   * A velocity of gradients, v = m v + g, p = p - lr v (PyTorch's SGD), needs no factor: the rate scales it. */
  double momentum_factor;
  double noise_scale; /* gradient noise scale in samples; negative: not known yet */
  uint64_t part;      /* samples to compute at once within per_worker_max, so that the parts are equal */
} tidepool_step;

typedef struct tidepool_totals {
  size_t struct_size;
  uint64_t samples; /* over all workers: divide the summed gradient by this number */
  double mean_loss; /* over the samples whose loss was reported; NaN if there are none */
} tidepool_totals;

/* A notice that this worker must leave. */
typedef struct tidepool_leave_notice {
  size_t struct_size;
  int64_t by_unix_ms; /* then the process is killed; granted answers move it to a later time */
  int32_t said;       /* answers of this worker so far */
  int32_t heard;      /* number of these with a decision */
  int32_t granted;    /* 1: the newest answer that the daemon decided on was granted */
  char decision[24];  /* id of the decision, as `schedctl decisions` shows it */
  char reason[48];    /* its reason as a code: "Preempted", "AskedToLeave", "DrainSuspend", ... */
  char sentence[256]; /* the same for users, cut off if it is longer */
} tidepool_leave_notice;

#define TIDEPOOL_ANSWER_SAVING 1 /* shown to users; it changes nothing */
#define TIDEPOOL_ANSWER_DONE 2   /* this worker may be ended at once, if the library has saved the job's state */
#define TIDEPOOL_ANSWER_UNTIL 3  /* it needs until that time: granted up to the notice_extension of the job's tenant */
#define TIDEPOOL_ANSWER_REFUSE 4 /* granted if the reason is "AskedToLeave"; else denied: the notice stays */

TIDEPOOL_API int tidepool_abi_version(void);

/* The error text of this thread's last failed call, at most 1,023 bytes of UTF-8; never NULL, "" if none failed.
 * The pointer belongs to the thread and is valid until the thread ends. The thread's next failed call overwrites the
 * text: copy it to keep it longer. Successful calls do not change it, so read it only after a failed call. */
TIDEPOOL_API const char* tidepool_last_error(void);

TIDEPOOL_API int tidepool_open(const tidepool_options* options, tidepool_session** session);

/* Registers memory that makes up a replica. Call before join; the memory must stay in place until tidepool_next_step()
 * has returned FINISHED or LEFT, or until close. INVALID: `bytes` is 0, or the name is registered already. */
TIDEPOOL_API int tidepool_register(tidepool_session* session, const char* name, void* memory, size_t bytes);

/* The buffer that reduce sums, `count` floats; the same pointer for the same count. NULL on error. */
TIDEPOOL_API float* tidepool_gradients(tidepool_session* session, size_t count);

/* --- for programs that compute on a GPU; needs the CUDA runtime (libcudart.so) ---
 * Enqueue everything that touches the memory below on one stream, a cudaStream_t (NULL: CUDA's default stream). Call
 * tidepool_use_stream() before the other two, and again whenever the stream changes. join, bucket_ready, reduce and
 * commit refer to the work in the stream when they are called. Only reduce waits on the host; then any stream can use
 * the sums. The memory must stay valid and in place until close, on the first device of CUDA_VISIBLE_DEVICES. */
TIDEPOOL_API int tidepool_use_stream(tidepool_session* session, void* stream);
/* tidepool_register() for memory on the GPU. Different workers may keep their state in different kinds of memory. */
TIDEPOOL_API int tidepool_register_device(tidepool_session* session, const char* name, void* memory, size_t bytes);
/* Call instead of tidepool_gradients(), before join: the program's own floats on the GPU, which reduce sums in place.
 * If a worker has no NCCL, the sums go through ordinary memory. */
TIDEPOOL_API int tidepool_lend_gradients(tidepool_session* session, float* memory, size_t count);

/* Waits for the first generation and its state. */
TIDEPOOL_API int tidepool_join(tidepool_session* session);

/* Marks these floats of the gradient buffer as final on this worker: they are summed over the workers while the
 * program computes the others. Every worker names the same ranges in the same order, even a worker without
 * samples. tidepool_reduce() sums the rest. Do not touch the named floats before tidepool_reduce(). */
TIDEPOOL_API int tidepool_bucket_ready(tidepool_session* session, size_t first, size_t count);

TIDEPOOL_API int tidepool_next_step(tidepool_session* session, tidepool_step* step);
/* `loss_sum`: over the samples of this worker; NaN: it reports no loss, which differs from a loss of 0. */
TIDEPOOL_API int tidepool_reduce(tidepool_session* session, double loss_sum, tidepool_totals* totals);
TIDEPOOL_API int tidepool_commit(tidepool_session* session);

/* For programs without a fixed number of steps: call it on every worker after the last step is committed. Then
 * call next_step until it returns FINISHED or LEFT. */
TIDEPOOL_API int tidepool_finish(tidepool_session* session);

/* Whether this worker must leave: returns TIDEPOOL_NOTICE and the newest notice, or TIDEPOOL_OK. It costs only a lock,
 * so call it once per step, and after next_step has returned LEFT. The library saves the registered state; a notice is
 * for state that the program itself keeps. */
TIDEPOOL_API int tidepool_notice(tidepool_session* session, tidepool_leave_notice* notice);

/* Answers the notice; may be called repeatedly. `until_unix_ms` is used for TIDEPOOL_ANSWER_UNTIL, by this machine's
 * clock. OK: the answer is recorded; tidepool_notice() shows the outcome once `heard` has reached `said`.
 * INVALID: there is no notice, the answer is none of the above, or the time has passed. */
TIDEPOOL_API int tidepool_answer(tidepool_session* session, int32_t answer, int64_t until_unix_ms);

/* Frees the session and returns how it ended: FINISHED, LEFT, OK if it was still training, or an error. */
TIDEPOOL_API int tidepool_close(tidepool_session* session);

#ifdef __cplusplus
}
#endif

#endif
