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
 * Rules: registered memory changes only between TIDEPOOL_COMMIT and tidepool_commit(); all workers of a
 * job make the same calls; one thread uses a session. Without TIDEPOOL_AGENT_SOCKET in the environment
 * the worker runs alone. Callers set struct_size, so that later versions can add fields at the end.
 * The library sets SIGPIPE to "ignore" if it is at its default. */
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

/* Results. Negative: an error, in words from tidepool_last_error(). */
#define TIDEPOOL_OK 0
#define TIDEPOOL_STEP 1     /* next_step: the struct holds a step */
#define TIDEPOOL_FINISHED 2 /* next_step, close: the program's end; a worker left alone after it is rank 0 of 1 */
#define TIDEPOOL_LEFT 3     /* next_step, close: the job goes on without this worker, as told; exit with 0 */
#define TIDEPOOL_COMMIT 4   /* reduce: apply the step, then call commit */
#define TIDEPOOL_RETRY 5    /* reduce: a worker died; call next_step again */
#define TIDEPOOL_NOTICE 6   /* notice: the struct holds one */
#define TIDEPOOL_INVALID (-1)
#define TIDEPOOL_FAILED (-2)

typedef struct tidepool_session tidepool_session;

/* What a rule of the program's own is asked and answers. */
typedef struct tidepool_resize {
  size_t struct_size;
  int32_t size;          /* workers of the generation that begins */
  int64_t step;          /* committed so far */
  double noise_scale;    /* gradient noise scale in samples; negative: not known yet */
  uint64_t global_batch; /* in: until now, 0 at the very beginning; out: samples a step from now on */
  double lr_factor;      /* in: until now; out: of the program's learning rate from now on */
} tidepool_resize;

typedef struct tidepool_options {
  size_t struct_size;
  uint64_t samples;      /* in one epoch, > 0 */
  uint64_t global_batch; /* samples a step over all workers, > 0 */
  uint64_t seed;         /* of the order of the samples */
  int64_t steps;         /* the program's end; 0 = until tidepool_finish() */
  /* How the batch and the learning rate follow the number of workers; all 0: they do not. */
  int32_t on_resize;       /* TIDEPOOL_ON_RESIZE_... */
  int32_t base_size;       /* the number of workers that global_batch is meant for; 0 = 1 */
  int32_t warmup_steps;    /* over which a larger learning rate is reached; 0 = at once */
  uint64_t per_worker_max; /* samples that a worker computes at once; 0 = any number */
  /* TIDEPOOL_ON_RESIZE_CALLBACK: says the batch; called in join and next_step when a generation begins, on rank
   * 0, whose answer holds for all. It must not call the library. */
  void (*resize_rule)(void* resize_user, tidepool_resize* resize);
  void* resize_user;
  int32_t noise_every; /* measure the gradient noise in every so many-th step; 0 = only as the rule needs it */
  /* For a program that ends by tidepool_finish(): samples of all its epochs, which the daemon plans with; 0 = not
   * known. Where `steps` is not 0, that is told instead. */
  uint64_t work_samples;
  uint64_t global_batch_max; /* that LINEAR, SQRT, ADASCALE and FIXED_LOCAL grow to; 0 = any, but not by FIXED_LOCAL */
} tidepool_options;

#define TIDEPOOL_ON_RESIZE_CONSTANT 0
#define TIDEPOOL_ON_RESIZE_LINEAR 1
#define TIDEPOOL_ON_RESIZE_SQRT 2
#define TIDEPOOL_ON_RESIZE_ADASCALE 3
#define TIDEPOOL_ON_RESIZE_CALLBACK 4
#define TIDEPOOL_ON_RESIZE_FIXED_LOCAL 5 /* a worker's share stays up to global_batch_max, which is then split */

typedef struct tidepool_step {
  size_t struct_size;
  int64_t number; /* committed steps before this one */
  int64_t epoch;
  const uint64_t* samples; /* this worker's share; valid until the next call of tidepool_next_step() */
  size_t sample_count;     /* may be 0 when there are more workers than samples */
  int32_t rank;
  int32_t size;
  uint32_t generation;
  uint64_t global_batch; /* samples a step at this size */
  double lr_factor;      /* multiplies the learning rate in this step */
  /* Multiplies the old velocity in this step if it is a movement of the parameters, u = m f u + lr g, p = p - u.
   * A velocity of gradients, v = m v + g, p = p - lr v (PyTorch's SGD), needs no factor: the rate scales it. */
  double momentum_factor;
  double noise_scale; /* gradient noise scale in samples; negative: not known yet */
  uint64_t part;      /* samples to compute at once, as per_worker_max allows, so that the parts are equal */
} tidepool_step;

typedef struct tidepool_totals {
  size_t struct_size;
  uint64_t samples; /* over all workers: divide the summed gradient by it */
  double mean_loss; /* over the samples whose loss was told; NaN without any */
} tidepool_totals;

/* That this worker is to leave. */
typedef struct tidepool_leave_notice {
  size_t struct_size;
  int64_t by_unix_ms; /* the process is ended by force then; it moves to later as answers are granted */
  int32_t said;       /* answers of this worker so far */
  int32_t heard;      /* of these the daemon has decided on */
  int32_t granted;    /* 1: the newest that was heard got what it asked for */
  char decision[24];  /* id of the decision, as `schedctl decisions` shows it */
  char reason[48];    /* its reason as a code: "Preempted", "AskedToLeave", "DrainSuspend", ... */
  char sentence[256]; /* the same in words, cut off where it is longer */
} tidepool_leave_notice;

#define TIDEPOOL_ANSWER_SAVING 1 /* for people to see; it changes nothing */
#define TIDEPOOL_ANSWER_DONE 2   /* this worker may be ended at once, if the library has kept the job's state */
#define TIDEPOOL_ANSWER_UNTIL 3  /* it needs until then: granted up to the notice_extension of the job's tenant */
#define TIDEPOOL_ANSWER_REFUSE 4 /* granted where the reason is "AskedToLeave"; else denied, and the notice stands */

TIDEPOOL_API int tidepool_abi_version(void);

/* What the last failed call of this thread had to say, at most 1,023 bytes of UTF-8; never NULL, "" before the first.
 * The pointer is the thread's own and stays valid until it ends. The text stays until the next call of this thread that
 * fails: copy it to keep it longer. Calls that succeed do not change it, so ask only after one that failed. */
TIDEPOOL_API const char* tidepool_last_error(void);

TIDEPOOL_API int tidepool_open(const tidepool_options* options, tidepool_session** session);

/* Memory that makes up a replica; before join; must stay in place until tidepool_next_step() has said FINISHED or LEFT,
 * or until close. INVALID: `bytes` is 0, or the name has been registered already. */
TIDEPOOL_API int tidepool_register(tidepool_session* session, const char* name, void* memory, size_t bytes);

/* The buffer that reduce sums, `count` floats; the same pointer for the same count. NULL on error. */
TIDEPOOL_API float* tidepool_gradients(tidepool_session* session, size_t count);

/* --- for programs that compute on a GPU; needs the CUDA runtime (libcudart.so) ---
 * Everything of the program that touches memory named below is enqueued on one stream, a cudaStream_t (NULL: CUDA's
 * default stream): name it before the other two, and again whenever it is another. join, bucket_ready, reduce and
 * commit mean what the stream holds when they are called. Only reduce waits on the host; the sums are then there for
 * any stream. The memory stays in place and alive until close, on the first device of CUDA_VISIBLE_DEVICES. */
TIDEPOOL_API int tidepool_use_stream(tidepool_session* session, void* stream);
/* tidepool_register() of memory on the GPU. Where a worker's state lies may differ from worker to worker. */
TIDEPOOL_API int tidepool_register_device(tidepool_session* session, const char* name, void* memory, size_t bytes);
/* Instead of tidepool_gradients(): the program's own floats on the GPU, which reduce sums where they lie; before join.
 * Where a worker has no NCCL, the sums go through ordinary memory. */
TIDEPOOL_API int tidepool_lend_gradients(tidepool_session* session, float* memory, size_t count);

/* Waits for the first generation and its state. */
TIDEPOOL_API int tidepool_join(tidepool_session* session);

/* These floats of the gradient buffer are final on this worker: they are summed over the workers while the
 * program computes the others. Every worker names the same ranges in the same order, also one without
 * samples. What no call has named is summed in tidepool_reduce(). Until then they must not be touched. */
TIDEPOOL_API int tidepool_bucket_ready(tidepool_session* session, size_t first, size_t count);

TIDEPOOL_API int tidepool_next_step(tidepool_session* session, tidepool_step* step);
/* `loss_sum`: over the samples of this worker; NaN: it tells none, which is no loss of 0. */
TIDEPOOL_API int tidepool_reduce(tidepool_session* session, double loss_sum, tidepool_totals* totals);
TIDEPOOL_API int tidepool_commit(tidepool_session* session);

/* For programs without a fixed number of steps: the last step is committed, on every worker alike. Then
 * call next_step until it says FINISHED or LEFT. */
TIDEPOOL_API int tidepool_finish(tidepool_session* session);

/* Says whether this worker has been told to leave: TIDEPOOL_NOTICE and the newest word, or TIDEPOOL_OK. Costs no more
 * than a lock, so ask once a step, and after next_step has said LEFT. The state that was registered is kept by the
 * library; a notice is for what the program keeps by itself. */
TIDEPOOL_API int tidepool_notice(tidepool_session* session, tidepool_leave_notice* notice);

/* Answers the notice, as often as there is something new to say. `until_unix_ms` counts for TIDEPOOL_ANSWER_UNTIL, by
 * this machine's clock. OK: it is said; what became of it shows tidepool_notice() when `heard` has come up to `said`.
 * INVALID: there is no notice, the answer is none of the above, or the time has passed. */
TIDEPOOL_API int tidepool_answer(tidepool_session* session, int32_t answer, int64_t until_unix_ms);

/* Frees the session and says how it ended: FINISHED, LEFT, OK if it was still training, or an error. */
TIDEPOOL_API int tidepool_close(tidepool_session* session);

#ifdef __cplusplus
}
#endif

#endif
