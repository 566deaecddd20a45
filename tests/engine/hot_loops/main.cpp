// Checks one compiled copy of the hot loops, that of MERCER_TARGET, against plain scalar code.
//
// Compiled with engine/hot_loops.cpp by test_hot_loops.py; only the latter gets the flags of the instruction set.
// Prints a line for each failure and the number of comparisons; ends with 1 where one failed, and with 77 where
// the processor lacks the instruction set. With --brief a part of the sizes is left out.
#include <cstring>

#include "check_inner_smo.hpp"
#include "check_sums.hpp"
#include "check_tiles.hpp"

#define MERCER_TEXT2(a) #a
#define MERCER_TEXT(a) MERCER_TEXT2(a)
#define MERCER_JOIN2(a, b) a##b
#define MERCER_JOIN(a, b) MERCER_JOIN2(a, b)

namespace mercer {
const HotLoops<float>& MERCER_JOIN(hot_loops_f32_, MERCER_TARGET)();
const HotLoops<double>& MERCER_JOIN(hot_loops_f64_, MERCER_TARGET)();
}  // namespace mercer

namespace {

bool present(const char* level) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (std::strcmp(level, "avx512") == 0)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (std::strcmp(level, "avx2") == 0) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return std::strcmp(level, "baseline") == 0;
}

template <class T>
void check_all(const mercer::HotLoops<T>& loops) {
    check::check_tiles(loops);
    check::check_sums(loops);
    check::check_inner_smo(loops);
}

}  // namespace

int main(int count, char** words) {
    check::brief = count > 1 && std::strcmp(words[1], "--brief") == 0;
    const char* level = MERCER_TEXT(MERCER_TARGET);
    if (!present(level)) {
        std::printf("this processor does not have %s\n", level);
        return 77;
    }
    check_all(mercer::MERCER_JOIN(hot_loops_f32_, MERCER_TARGET)());
    check_all(mercer::MERCER_JOIN(hot_loops_f64_, MERCER_TARGET)());
    std::printf("%s: %ld comparisons, %ld failed\n", level, check::made, check::failed);
    return check::failed != 0;
}
