"""Numbers and names in the words of C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

NUMBERS_A_LINE = 4

KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while alignas alignof bool constexpr false nullptr static_assert thread_local true typeof
typeof_unqual asm fortran main
"""
OF_MATH_H = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp exp2 expm1 fabs
fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn ldexp lgamma
llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow
remainder remquo rint round scalb scalbln scalbn significand sin sinh sqrt tan tanh tgamma trunc y0
y1 yn
"""
OTHERS_OF_MATH_H = """
fpclassify isfinite isnormal isgreater isgreaterequal isless islessequal islessgreater isunordered
signbit math_errhandling signgam lgamma_r lgammaf_r lgammal_r float_t double_t HUGE_VAL HUGE_VALF
HUGE_VALL INFINITY NAN MATH_ERRNO MATH_ERREXCEPT FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_NAN FP_NORMAL
FP_SUBNORMAL FP_ZERO M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI
M_SQRT2 M_SQRT1_2 linux unix
"""
OF_OTHER_HEADERS = """
abort abs atexit atof atoi atol atoll bsearch calloc div exit free getenv labs ldiv llabs lldiv
malloc mblen mbstowcs mbtowc qsort rand realloc srand strtod strtof strtol strtold strtoll strtoul
strtoull system wcstombs wctomb clearerr fclose feof ferror fflush fgetc fgetpos fgets fopen fprintf
fputc fputs fread freopen fscanf fseek fsetpos ftell fwrite getc getchar gets perror printf putc
putchar puts remove rename rewind scanf setbuf setvbuf snprintf sprintf sscanf stderr stdin stdout
tmpfile tmpnam ungetc vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf memchr memcmp
memcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strerror strlen strncat strncmp
strncpy strpbrk strrchr strspn strstr strtok strxfrm isalnum isalpha isblank iscntrl isdigit isgraph
islower isprint ispunct isspace isupper isxdigit tolower toupper asctime clock ctime difftime gmtime
localtime mktime strftime time longjmp setjmp raise signal localeconv setlocale errno assert
"""
TAKEN = frozenset(
    f"{KEYWORDS} {OF_MATH_H} {OTHERS_OF_MATH_H} {OF_OTHER_HEADERS}".split()
    + [name + kind for name in OF_MATH_H.split() for kind in "fl"]
)
"""Names that a function cannot have, or that a program has already."""


def table(name: str, values: Any) -> Iterator[str]:
    """Yield the lines of a constant array of one or two dimensions.

    Examples
    --------
    >>> print("\\n".join(table("a", [1.0, 2.5])))
    static const double a[2] = {1.0, 2.5};
    """
    values = np.asarray(values, dtype=np.float64)
    sizes = "".join(f"[{size}]" for size in values.shape)
    start = f"static const double {name}{sizes} = {{"
    if values.ndim == 1 and values.size <= NUMBERS_A_LINE:
        yield f"{start}{_numbers(values)}}};"
        return
    yield start
    rows = values if values.ndim == 2 else values[None]
    for k, row in enumerate(rows):
        yield from _row(row, inner=values.ndim == 2, last=k == len(rows) - 1)
    yield "};"


def _row(row: Any, *, inner: bool, last: bool) -> Iterator[str]:
    parts = [row[at : at + NUMBERS_A_LINE] for at in range(0, row.size, NUMBERS_A_LINE)]
    for k, part in enumerate(parts):
        begin = "{" if inner and k == 0 else " " * inner
        is_end = k == len(parts) - 1
        end = "}" * (inner and is_end) + "," * (not (last and is_end))
        yield f"    {begin}{_numbers(part)}{end}"


def _numbers(values: Any) -> str:
    return ", ".join(map(number, values))


def number(value: float) -> str:
    """Return the shortest decimals that are read again as the same number."""
    return repr(float(value) + 0.0)


def commented(label: Any) -> str:
    """Return a label as a text that ends no comment and begins none."""
    return ascii(label).replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
