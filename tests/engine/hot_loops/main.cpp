// Checks one compiled copy of the hot loops against plain scalar code: check LEVEL [--brief]
//
// Linked by tests/hot_loop_checks.py with engine/hot_loops.cpp, which alone gets the flags of the instruction set LEVEL
// and is compiled with MERCER_TARGET=checked, so that this program is compiled once for all of them. Prints a line for
// each failure and the number of comparisons; ends with 1 where one failed, and with 77 where the processor lacks the
// instruction set. With --brief a part of the sizes is left out.
#include <cstring>

#include "check_inner_smo.hpp"
#include "check_sums.hpp"
#include "check_tiles.hpp"

namespace mercer {
const HotLoops<float>& hot_loops_f32_checked();
const HotLoops<double>& hot_loops_f64_checked();
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
    if (count < 2) return 1;
    const char* level = words[1];
    check::brief = count > 2 && std::strcmp(words[2], "--brief") == 0;
    if (!present(level)) {
        std::printf("this processor does not have %s\n", level);
        return 77;
    }
    check_all(mercer::hot_loops_f32_checked());
    check_all(mercer::hot_loops_f64_checked());
    std::printf("%s: %ld comparisons, %ld failed\n", level, check::made, check::failed);
    return check::failed != 0;
}
