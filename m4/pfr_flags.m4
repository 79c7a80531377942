# PFR_TRY_FLAG(VARIABLE, FLAG): appends FLAG to VARIABLE if the compiler takes it
AC_DEFUN([PFR_TRY_FLAG], [
  AS_VAR_PUSHDEF([cache], [pfr_cv_flag_$2])
  AC_CACHE_CHECK([whether $CC accepts $2], [cache], [
    pfr_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AS_VAR_SET([cache], [yes])],
                   [AS_VAR_SET([cache], [no])])
    CFLAGS=$pfr_saved_CFLAGS
  ])
  AS_VAR_IF([cache], [yes], [$1="$$1 $2"])
  AS_VAR_POPDEF([cache])
])

# PFR_BUILD_KIND: before AC_PROG_CC, because it chooses the default of CFLAGS:
# they come last on the command line, so nothing later can change the -O.
AC_DEFUN([PFR_BUILD_KIND], [
  AC_BEFORE([$0], [AC_PROG_CC])
  AC_ARG_ENABLE([sanitizers],
    AS_HELP_STRING([--enable-sanitizers], [build with address and undefined-behaviour sanitizers]),
    [], [enable_sanitizers=no])
  AC_ARG_ENABLE([coverage],
    AS_HELP_STRING([--enable-coverage], [build for gcov]), [], [enable_coverage=no])
  AS_IF([test "$enable_coverage" != no], [: ${CFLAGS="-g -O0"}],
        [test "$enable_sanitizers" != no], [: ${CFLAGS="-g -O1"}])
  PFR_CFLAGS=
  PFR_LDFLAGS=
  PFR_PIE_CFLAGS=
  PFR_PIE_LDFLAGS=
  AC_SUBST([PFR_CFLAGS])
  AC_SUBST([PFR_LDFLAGS])
  AC_SUBST([PFR_PIE_CFLAGS])
  AC_SUBST([PFR_PIE_LDFLAGS])
])

AC_DEFUN([PFR_WARNINGS], [
  AC_ARG_ENABLE([werror],
    AS_HELP_STRING([--enable-werror], [treat warnings as errors]), [], [enable_werror=no])
  m4_foreach_w([flag], [-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
                        -Wpointer-arith -Wwrite-strings -Wformat=2 -Wundef -Wvla],
    [PFR_TRY_FLAG([PFR_CFLAGS], flag)])
  AS_IF([test "$enable_werror" != no], [PFR_CFLAGS="$PFR_CFLAGS -Werror"])
  PFR_CFLAGS="-std=gnu11$PFR_CFLAGS"
])

# Sets PFR_HARDENED to yes or no (tests/lint/hardening reads it) and
# hardening_summary. The sanitizers bring checks of their own that clash.
AC_DEFUN([PFR_HARDENING], [
  AC_ARG_ENABLE([hardening],
    AS_HELP_STRING([--disable-hardening], [build without hardening flags]), [],
    [enable_hardening=yes])
  PFR_HARDENED=no
  AS_IF([test "$enable_hardening" = no], [hardening_summary="no (--disable-hardening)"],
        [test "$enable_sanitizers" != no], [hardening_summary="no (sanitizers)"],
        [PFR_HARDENED=yes
         hardening_summary=yes
         PFR_HARDENING_FLAGS])
  AC_SUBST([PFR_HARDENED])
])

AC_DEFUN([PFR_HARDENING_FLAGS], [
  m4_foreach_w([flag], [-fstack-protector-strong -fstack-clash-protection -fcf-protection],
    [PFR_TRY_FLAG([PFR_CFLAGS], flag)])
  # only where the compiler optimises and nobody has chosen otherwise
  AS_CASE([" $CFLAGS $CPPFLAGS "], [*_FORTIFY_SOURCE*], [],
    [*" -O0 "*], [hardening_summary="yes, without fortified calls (-O0)"],
    [*" -O"*], [PFR_CFLAGS="$PFR_CFLAGS -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"],
    [hardening_summary="yes, without fortified calls (no -O)"])
  PFR_TRY_FLAG([PFR_LDFLAGS], [-Wl,-z,relro,-z,now,-z,noexecstack])
  PFR_TRY_FLAG([PFR_PIE_CFLAGS], [-fPIE])
  PFR_TRY_FLAG([PFR_PIE_LDFLAGS], [-pie])
])

# PFR_NEED_FLAG(FLAG, WHAT FOR): FLAG must work in compiling and linking
AC_DEFUN([PFR_NEED_FLAG], [
  pfr_needed=
  PFR_TRY_FLAG([pfr_needed], [$1])
  AS_IF([test -z "$pfr_needed"], [AC_MSG_ERROR([$2 was given, but $CC cannot link with $1])])
])

AC_DEFUN([PFR_SANITIZERS], [
  AS_IF([test "$enable_sanitizers" != no], [
    PFR_NEED_FLAG([-fsanitize=address,undefined], [--enable-sanitizers])
    PFR_CFLAGS="$PFR_CFLAGS -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
    PFR_LDFLAGS="$PFR_LDFLAGS -fsanitize=address,undefined"
  ])
  AM_CONDITIONAL([SANITIZERS], [test "$enable_sanitizers" != no])
])

AC_DEFUN([PFR_COVERAGE], [
  AS_IF([test "$enable_coverage" != no], [
    PFR_NEED_FLAG([--coverage], [--enable-coverage])
    PFR_CFLAGS="$PFR_CFLAGS --coverage"
    PFR_LDFLAGS="$PFR_LDFLAGS --coverage"
  ])
])
