// Random orders that need no memory: bijections of 0, ..., s - 1. Steps that can be undone are taken on
// the numbers of `bits` bits, until the result is below s.
struct Order {
    u32 factor[4], shift[4];
    u32 mask, half, s;
};

__device__ inline Order order_of(const Game &g, int run, int t, int arm, u32 s, u32 pass)
{
    Order order;
    u32 bits = 2;
    while (1u << bits < s) bits++;
    const uint4 f = words(g, run, t, ORDER, arm, 2 * pass);
    const uint4 a = words(g, run, t, ORDER, arm, 2 * pass + 1);
    order.factor[0] = f.x | 1;
    order.factor[1] = f.y | 1;
    order.factor[2] = f.z | 1;
    order.factor[3] = f.w | 1;
    order.shift[0] = a.x;
    order.shift[1] = a.y;
    order.shift[2] = a.z;
    order.shift[3] = a.w;
    order.mask = (1u << bits) - 1;
    order.half = (bits + 1) / 2;
    order.s = s;
    return order;
}

__device__ inline u32 place_in(const Order &order, u32 i)
{
    do {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            i = (i * order.factor[k] + order.shift[k]) & order.mask;
            i ^= i >> order.half;
        }
    } while (i >= order.s);
    return i;
}
