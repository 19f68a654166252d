"""Reserved names in C: keywords, and names that are declared in headers of the standard library."""

from __future__ import annotations

import re

# Keywords of C23 and C++, because the C file may be compiled as C++.
_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
    concept const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype default delete
    do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
    wchar_t while xor xor_eq
"""

# Names that <math.h> and <complex.h> declare or that some systems add to these headers. Each of these names is also
# reserved with the suffix f or l.
_OF_NUMBERS = """
    acos acosh acospi asin asinh asinpi atan atan2 atan2pi atanh atanpi cabs cacos cacosh canonicalize carg casin
    casinh catan catanh cbrt ccos ccosh ceil cexp cimag clog clog10 compoundn conj copysign cos cosh cospi cpow
    cproj creal csin csinh csqrt ctan ctanh daddl ddivl dfmal dmull drem dsqrtl dsubl erf erfc exp exp10 exp10m1
    exp2 exp2m1 expm1 fabs fadd fdim fdiv ffma finite floor fma fmax fmaximum fmaximum_mag fmaximum_mag_num
    fmaximum_num fmaxmag fmin fminimum fminimum_mag fminimum_mag_num fminimum_num fminmag fmod fmul frexp fromfp
    fromfpx fsqrt fsub gamma getpayload hypot ilogb infnan isinf isnan j0 j1 jn ldexp lgamma llogb llrint llround
    log log10 log10p1 log1p log2 log2p1 logb logp1 lrint lround modf nan nearbyint nextafter nextdown nexttoward
    nextup pow pow10 pown powr remainder remquo rint rootn round roundeven rsqrt scalb scalbln scalbn setpayload
    setpayloadsig significand sin sincos sinh sinpi sqrt tan tanh tanpi tgamma totalorder totalordermag trunc
    ufromfp ufromfpx y0 y1 yn
"""
_CONSTANTS = """
    CMPLX CMPLXF CMPLXL FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO HUGE HUGE_VAL HUGE_VALF
    HUGE_VALL I INFINITY MATH_ERREXCEPT MATH_ERRNO MAXFLOAT M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E
    M_PI M_PI_2 M_PI_4 M_SQRT1_2 M_SQRT2 NAN complex double_t float_t fpclassify imaginary iscanonical iseqsig isfinite
    isgreater isgreaterequal isless islessequal islessgreater isnormal issignaling issubnormal isunordered iszero
    lgamma_r lgammaf_r lgammal_r math_errhandling signbit signgam
"""

# Names that the other standard headers declare, on some systems or in C++.
_LIBRARY = """
    BUFSIZ CHAR_BIT CHAR_MAX CHAR_MIN CLOCKS_PER_SEC DBL_DIG DBL_EPSILON DBL_MANT_DIG DBL_MAX DBL_MIN DECIMAL_DIG
    EDOM EILSEQ EOF ERANGE EXIT_FAILURE EXIT_SUCCESS FILE FILENAME_MAX FLT_DIG FLT_EPSILON FLT_EVAL_METHOD
    FLT_MANT_DIG FLT_MAX FLT_MIN FLT_RADIX FLT_ROUNDS FOPEN_MAX INT_MAX INT_MIN LDBL_DIG LDBL_EPSILON LDBL_MAX
    LDBL_MIN LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN L_tmpnam MB_CUR_MAX MB_LEN_MAX NDEBUG NULL ONCE_FLAG_INIT
    PTRDIFF_MAX RAND_MAX SCHAR_MAX SCHAR_MIN SEEK_CUR SEEK_END SEEK_SET SHRT_MAX SHRT_MIN SIGABRT SIGFPE SIGILL
    SIGINT SIGSEGV SIGTERM SIG_DFL SIG_ERR SIG_IGN SIZE_MAX TIME_UTC TMP_MAX UCHAR_MAX UINT_MAX ULLONG_MAX ULONG_MAX
    USHRT_MAX WCHAR_MAX WCHAR_MIN WEOF abort abs aligned_alloc alloca asctime asprintf assert at_quick_exit atexit
    atof atoi atol atoll atomic_init bcmp bcopy bsearch btowc bzero call_once calloc clearenv clearerr clock clock_t
    close cnd_broadcast cnd_init cnd_signal cnd_wait creat ctime difftime div div_t dprintf ecvt environ errno exec
    execl execv execve exit fclose fcntl fcvt fdopen feclearexcept fegetenv fegetround feholdexcept fenv_t feof
    feraiseexcept ferror fesetenv fesetround fetestexcept feupdateenv fexcept_t fflush ffs fgetc fgetpos fgets
    fgetwc fgetws fileno fopen fork fpos_t fprintf fputc fputs fputwc fputws fread free free_aligned_sized
    free_sized freopen fscanf fseek fsetpos fsync ftell fwide fwprintf fwrite fwscanf gcvt getc getchar getdelim
    getenv getline getopt getpid getpt gets getsubopt getw getwc getwchar gmtime imaxabs imaxdiv index initstate
    int16_t int32_t int64_t int8_t intmax_t intptr_t isalnum isalpha isascii isatty isblank iscntrl isctype isdigit
    isgraph islower isprint ispunct isspace isupper iswalnum iswalpha iswblank iswcntrl iswctype iswdigit iswgraph
    iswlower iswprint iswpunct iswspace iswupper iswxdigit isxdigit jmp_buf jrand48 kill kill_dependency labs lconv
    ldiv ldiv_t link llabs lldiv lldiv_t localeconv localtime longjmp lseek malloc max_align_t mblen mbrlen mbrtowc
    mbsinit mbsrtowcs mbstate_t mbstowcs mbtowc memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memset
    memset_explicit mkdtemp mkstemp mktemp mktime mrand48 mtx_init mtx_lock mtx_t mtx_unlock newlocale nice nrand48
    offsetof once_flag open pause pclose perror pipe popen printf pselect ptrdiff_t ptsname putc putchar putenv puts
    putw putwc putwchar qsort quick_exit raise rand random read realloc realpath remove rename rewind rindex sbrk
    scanf select setbuf setbuffer setenv setjmp setlinebuf setlocale setstate setvbuf sig_atomic_t signal size_t
    sleep snprintf sprintf srand srandom sscanf ssize_t stat stderr stdin stdout stpcpy stpncpy strcasecmp strcat
    strchr strcmp strcoll strcpy strcspn strdup strerror strfromd strfromf strfroml strfry strftime strlen
    strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep strsignal strspn strstr strtod strtof
    strtoimax strtok strtol strtold strtoll strtoul strtoull strtoumax strxfrm swab swprintf swscanf symlink sync
    system tempnam thrd_create thrd_exit thrd_join thrd_sleep thrd_t thrd_yield time time_t timegm timespec
    timespec_get timezone tm tmpfile tmpnam toascii tolower toupper towctrans towlower towupper truncate tss_create
    tss_delete tss_get tss_set tss_t tzname tzset uint uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t ulong
    ungetc ungetwc unlink unreachable unsetenv uselocale ushort usleep utime va_arg va_copy va_end va_list va_start
    valloc vfork vfprintf vfscanf vfwprintf vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vwprintf wait
    wcrtomb wcscat wcschr wcscmp wcscoll wcscpy wcscspn wcsftime wcslen wcsncat wcsncmp wcsncpy wcspbrk wcsrchr
    wcsrtombs wcsspn wcsstr wcstod wcstof wcstok wcstol wcstold wcstoll wcstombs wcstoul wcstoull wcsxfrm wctob
    wctomb wctrans wctrans_t wctype wctype_t wint_t wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf write wscanf
"""

TAKEN = frozenset(
    [
        *f"{_KEYWORDS} {_CONSTANTS} {_LIBRARY} main std linux unix".split(),
        *(name + suffix for name in _OF_NUMBERS.split() for suffix in ("", "f", "l")),
    ]
)


_OF_WHOLE_NUMBERS = re.compile(r"u?int(_least|_fast)?\d+_t|U?INT(_LEAST|_FAST)?(\d+|MAX|PTR)_(C|MAX|MIN|WIDTH)")


def is_taken(name: str) -> bool:
    """Return whether a name is a keyword, is declared in a standard header, or begins with an underscore."""
    return name.startswith("_") or name in TAKEN or _OF_WHOLE_NUMBERS.fullmatch(name) is not None
