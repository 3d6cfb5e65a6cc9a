// Copies from global to shared memory that go on while a warp computes.

#ifndef EMULATED
__device__ inline void copy_ahead(float *to, const float *from)
{
    const unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from) : "memory");
}

__device__ inline void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

__device__ inline void await_copies() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
#endif
