// Chooses the compiled copy of the hot loops that suits the processor at hand.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "hot_loops.hpp"

#if defined(_MSC_VER) && defined(MERCER_X86)
#include <intrin.h>
#endif

namespace mercer {

#define MERCER_DECLARE(target)                       \
    const HotLoops<float>& hot_loops_f32_##target(); \
    const HotLoops<double>& hot_loops_f64_##target();
MERCER_DECLARE(baseline)
#if defined(MERCER_X86)
MERCER_DECLARE(avx2)
MERCER_DECLARE(avx512)
#endif

namespace {

enum class Level { baseline, avx2, avx512 };

#if defined(MERCER_X86) && defined(_MSC_VER) && !defined(__clang__)
Level detect() {
    int info[4];
    __cpuid(info, 1);
    const bool os_saves = (info[2] & (1 << 27)) != 0 && (info[2] & (1 << 12)) != 0;
    if (!os_saves) return Level::baseline;
    const unsigned long long state = _xgetbv(0);
    __cpuidex(info, 7, 0);
    const bool avx512 =
        (info[1] & (1 << 16)) && (info[1] & (1 << 17)) && (info[1] & (1 << 30)) && (info[1] & (1u << 31));
    if (avx512 && (state & 0xe6) == 0xe6) return Level::avx512;
    if ((info[1] & (1 << 5)) && (state & 0x6) == 0x6) return Level::avx2;
    return Level::baseline;
}
#elif defined(MERCER_X86)
Level detect() {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return Level::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Level::avx2;
    return Level::baseline;
}
#else
Level detect() { return Level::baseline; }
#endif

constexpr const char* names[] = {"baseline", "avx2", "avx512"};

// MERCER_INSTRUCTION_SET=baseline|avx2|avx512 asks for one that the processor has, to compare and to test.
Level choose_level() {
    const Level best = detect();
    const char* wish = std::getenv("MERCER_INSTRUCTION_SET");
    if (!wish || !*wish) return best;
    std::string known;
    for (int k = 0; k <= static_cast<int>(best); ++k) {
        if (std::strcmp(wish, names[k]) == 0) return static_cast<Level>(k);
        known += (k ? ", " : "") + std::string(names[k]);
    }
    std::string printable(wish);
    for (char& c : printable)
        if (c < ' ' || c > '~') c = '?';
    throw std::invalid_argument("MERCER_INSTRUCTION_SET is '" + printable + "', and this processor has: " + known);
}

Level level() {
    static const Level chosen = choose_level();
    return chosen;
}

}  // namespace

template <>
const HotLoops<float>& hot_loops<float>() {
#if defined(MERCER_X86)
    if (level() == Level::avx512) return hot_loops_f32_avx512();
    if (level() == Level::avx2) return hot_loops_f32_avx2();
#endif
    return hot_loops_f32_baseline();
}

template <>
const HotLoops<double>& hot_loops<double>() {
#if defined(MERCER_X86)
    if (level() == Level::avx512) return hot_loops_f64_avx512();
    if (level() == Level::avx2) return hot_loops_f64_avx2();
#endif
    return hot_loops_f64_baseline();
}

const char* instruction_set() { return names[static_cast<int>(level())]; }

}  // namespace mercer
